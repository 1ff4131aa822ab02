package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.AbsentLibraryException;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Offers the RDMA devices that libibverbs finds on this machine.
///
/// The system property `rdmacomm.ibverbs.library` names another library than `libibverbs.so.1`.
public final class IbvProvider implements RdmaProvider {
    private static final String NAME = "ibverbs";
    private static final String LIBRARY = "libibverbs.so.1";

    private final String library;
    private final Path deviceFiles;

    /// For [java.util.ServiceLoader].
    public IbvProvider() {
        this(System.getProperty("rdmacomm.ibverbs.library", LIBRARY), Path.of("/dev/infiniband"));
    }

    /// A provider over another library, whose devices have their files elsewhere.
    IbvProvider(String library, Path deviceFiles) {
        this.library = library;
        this.deviceFiles = deviceFiles;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<Device> devices() {
        try {
            return DeviceList.read(LibIbverbs.open(library)).devices().stream()
                    .filter(this::mayOpen)
                    .map(Device.class::cast)
                    .toList();
        } catch (AbsentLibraryException e) {
            return List.of();
        }
    }

    @Override
    public Optional<String> unavailable() {
        DeviceList list;
        try {
            list = DeviceList.read(LibIbverbs.open(library));
        } catch (AbsentLibraryException e) {
            return Optional.of(e.reason());
        }
        if (list.devices().isEmpty()) {
            return Optional.of(noDevice(list.errno()));
        }
        if (list.devices().stream().anyMatch(this::mayOpen)) {
            return Optional.empty();
        }
        Path file = fileOf(list.devices().getFirst());
        return Optional.of(
                Files.exists(file)
                        ? "no permission to open " + file + "; join the group that owns it, or run as root"
                        : "there are devices, but no " + file + "; in a container pass --device=" + deviceFiles);
    }

    private static String noDevice(int errno) {
        String why = errno == 0 || errno == LibCLayout.ENOSYS ? "" : " (errno " + errno + ")";
        return "this machine has no RDMA device" + why
                + "; load its driver, or make one in software: `modprobe rdma_rxe"
                + " && rdma link add rxe0 type rxe netdev eth0`";
    }

    private boolean mayOpen(IbvDevice device) {
        Path file = fileOf(device);
        return Files.isReadable(file) && Files.isWritable(file);
    }

    private Path fileOf(IbvDevice device) {
        return deviceFiles.resolve(device.fileName());
    }
}
