package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Offers software devices, by default `soft0`.
///
/// The system property `rdmacomm.soft.devices` names other devices, separated by commas, each with the address that
/// it is bound to, which is also its GID: `soft0=127.0.0.1,soft1=10.0.0.1`. Options may follow the address:
/// `soft1=10.0.0.1?sharedMemory=false&checksum=true` reaches all peers over TCP, even on its own host, and has a
/// checksum in each frame (the default between hosts); `segment=1440` limits frames to that many bytes.
/// `roce0=10.0.0.1?transport=roce` speaks RoCE v2 with all peers. Shared memory is in `/dev/shm`, or in the folder
/// that `rdmacomm.soft.directory` names.
public final class SoftProvider implements RdmaProvider {
    private static final String NAME = "soft";
    private static final String DEFAULT_DEVICES = "soft0=127.0.0.1";

    /// For [java.util.ServiceLoader].
    public SoftProvider() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<DeviceDriver> devices() {
        if (unavailable().isPresent()) {
            return List.of();
        }
        List<DeviceDriver> devices = new ArrayList<>();
        for (String entry :
                System.getProperty("rdmacomm.soft.devices", DEFAULT_DEVICES).split(",", -1)) {
            devices.add(new SoftDevice(NAME, DeviceSettings.parse(entry)));
        }
        return List.copyOf(devices);
    }

    @Override
    public Optional<String> unavailable() {
        Path base = ShmDirectory.base();
        if (!Files.isDirectory(base) || !Files.isWritable(base)) {
            return Optional.of("cannot write to " + base
                    + "; mount a tmpfs there or set -Drdmacomm.soft.directory to a folder in memory");
        }
        return Optional.empty();
    }
}
