package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.AbsentLibraryException;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.RdmaLibraries;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// Offers the RDMA devices that libibverbs finds on this machine.
///
/// The system properties `rdmacomm.ibverbs.library` and `rdmacomm.ibverbs.rdmacm` replace `libibverbs.so.1` and
/// `librdmacm.so.1`.
///
/// If the kernel has no RDMA driver, [#devices()] does not open the library: that takes tens of milliseconds, and
/// libibverbs would find no device.
public final class IbvProvider implements RdmaProvider {
    private static final String NAME = "ibverbs";
    private static final String LIBRARY = "libibverbs.so.1";
    private static final String RDMACM = "librdmacm.so.1";

    private static final String LIBRARY_PROPERTY = "rdmacomm.ibverbs.library";
    private static final String RDMACM_PROPERTY = "rdmacomm.ibverbs.rdmacm";
    private static final Path DEVICE_FILES = Path.of("/dev/infiniband");
    private static final Path DRIVERS = Path.of("/sys/class/infiniband_verbs");

    private final String library;
    private final String rdmacm;
    private final Path deviceFiles;
    private final Path drivers;

    /// For [java.util.ServiceLoader].
    public IbvProvider() {
        this(
                System.getProperty(LIBRARY_PROPERTY, LIBRARY),
                System.getProperty(RDMACM_PROPERTY, RDMACM),
                DEVICE_FILES,
                System.getProperty(LIBRARY_PROPERTY) == null ? DRIVERS : DRIVERS.getRoot());
    }

    /// A provider over other libraries and other device files, for tests.
    ///
    /// @param drivers a folder that exists if there is a driver; without it there is no device
    IbvProvider(String library, String rdmacm, Path deviceFiles, Path drivers) {
        this.library = library;
        this.rdmacm = rdmacm;
        this.deviceFiles = deviceFiles;
        this.drivers = drivers;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<DeviceDriver> devices() {
        if (!Files.exists(drivers)) {
            return List.of();
        }
        try {
            return DeviceList.read(RdmaLibraries.open(library, rdmacm)).devices().stream()
                    .filter(this::mayOpen)
                    .map(DeviceDriver.class::cast)
                    .toList();
        } catch (AbsentLibraryException e) {
            return List.of();
        }
    }

    @Override
    public Optional<String> unavailable() {
        DeviceList list;
        try {
            list = DeviceList.read(RdmaLibraries.open(library, rdmacm));
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
