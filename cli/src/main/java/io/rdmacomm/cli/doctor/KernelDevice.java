package io.rdmacomm.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Facts about a device that the kernel reports and the verbs do not.
final class KernelDevice {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final List<String> FILES = List.of("hca_type", "board_id", "fw_ver", "node_desc");

    private KernelDevice() {}

    /// The contents of the device's files, and its driver; empty for a device unknown to the kernel.
    static Map<String, Object> describe(String device) {
        Map<String, Object> members = new LinkedHashMap<>();
        Path folder = DEVICES.resolve(device.replaceAll("[^A-Za-z0-9_.-]", "?"));
        for (String name : FILES) {
            try {
                members.put(name, Files.readString(folder.resolve(name)).strip());
            } catch (IOException _) {
                // Not every driver has it.
            }
        }
        try {
            members.put(
                    "driver",
                    folder.resolve("device/driver").toRealPath().getFileName().toString());
        } catch (IOException _) {
            // A software device has no driver.
        }
        return members;
    }
}
