package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.DeviceLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.RdmaLibraries;
import io.rdmacomm.ibverbs.objects.DeviceQueries;
import io.rdmacomm.ibverbs.objects.IbvContext;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import java.lang.foreign.MemorySegment;

/// A device that libibverbs found (`struct ibv_device`), by its name.
final class IbvDevice implements DeviceDriver {
    private final RdmaLibraries libraries;
    private final String name;
    private final String fileName;
    private final long guid;
    private final TransportType transport;

    private IbvDevice(RdmaLibraries libraries, String name, String fileName, long guid, TransportType transport) {
        this.libraries = libraries;
        this.name = name;
        this.fileName = fileName;
        this.guid = guid;
        this.transport = transport;
    }

    /// Reads the struct at `address`. The caller may free it afterwards.
    static IbvDevice read(RdmaLibraries libraries, long address) {
        MemorySegment struct = NativeMemory.at(address, DeviceLayout.BYTES);
        return new IbvDevice(
                libraries,
                NativeMemory.string(struct, DeviceLayout.NAME, DeviceLayout.NAME_BYTES),
                NativeMemory.string(struct, DeviceLayout.FILE_NAME, DeviceLayout.NAME_BYTES),
                Long.reverseBytes(libraries.verbs().getDeviceGuid(address)),
                TransportType.of(struct.get(JAVA_INT, DeviceLayout.TRANSPORT)));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String provider() {
        return "ibverbs";
    }

    @Override
    public long guid() {
        return guid;
    }

    @Override
    public TransportType transport() {
        return transport;
    }

    /// The name of the device file, for example `uverbs0`.
    String fileName() {
        return fileName;
    }

    @Override
    public ContextDriver open() {
        LibIbverbs library = libraries.verbs();
        long address = IbvFailure.address("open device (ibv_open_device)", DeviceList.open(library, name), toString());
        boolean success = false;
        try {
            DeviceQueries queries = new DeviceQueries(library, address, toString());
            DeviceValues attributes = queries.device();
            ContextDriver context =
                    new IbvContext(this, libraries, address, queries, attributes, Drivers.of(attributes));
            success = true;
            return context;
        } finally {
            if (!success) {
                library.closeDevice(address);
            }
        }
    }

    @Override
    public String toString() {
        return "device " + name;
    }
}
