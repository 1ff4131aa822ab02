package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.DeviceLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.TransportType;
import java.lang.foreign.MemorySegment;

/// A device that libibverbs found (`struct ibv_device`), by its name.
final class IbvDevice extends Device {
    private final NativeLibraries libraries;
    private final String name;
    private final String fileName;
    private final long guid;
    private final TransportType transport;

    private IbvDevice(NativeLibraries libraries, String name, String fileName, long guid, TransportType transport) {
        this.libraries = libraries;
        this.name = name;
        this.fileName = fileName;
        this.guid = guid;
        this.transport = transport;
    }

    /// Reads the struct at `address`, which is freed soon after.
    static IbvDevice read(NativeLibraries libraries, long address) {
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

    /// The name of the file that opening it opens, for example `uverbs0`.
    String fileName() {
        return fileName;
    }

    NativeLibraries libraries() {
        return libraries;
    }

    @Override
    protected Context doOpen() {
        return IbvContext.open(this);
    }
}
