package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.ShmDirectory;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Offers software devices, by default `soft0`.
///
/// The system property `rdmacomm.soft.devices` names others, separated by commas, each with the address that its
/// GID is made of: `soft0=127.0.0.1,soft1=10.0.0.1`. Shared memory is in `/dev/shm`, or where
/// `rdmacomm.soft.directory` says.
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
    public List<Device> devices() {
        if (unavailable().isPresent()) {
            return List.of();
        }
        List<Device> devices = new ArrayList<>();
        for (String entry :
                System.getProperty("rdmacomm.soft.devices", DEFAULT_DEVICES).split(",", -1)) {
            String[] parts = entry.strip().split("=", 2);
            devices.add(new SoftDevice(NAME, parts[0], address(parts.length == 2 ? parts[1] : "127.0.0.1")));
        }
        return List.copyOf(devices);
    }

    @Override
    public Optional<String> unavailable() {
        Path base = ShmDirectory.root().getParent();
        if (base == null || !Files.isDirectory(base) || !Files.isWritable(base)) {
            return Optional.of("cannot write to " + base
                    + "; mount a tmpfs there or set -Drdmacomm.soft.directory to a folder in memory");
        }
        return Optional.empty();
    }

    private static InetAddress address(String literal) {
        try {
            return InetAddress.ofLiteral(literal);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "rdmacomm.soft.devices: '" + literal + "' is not an IP address; write name=address,...", e);
        }
    }
}
