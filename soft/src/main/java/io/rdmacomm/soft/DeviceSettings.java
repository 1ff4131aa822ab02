package io.rdmacomm.soft;

import java.net.InetAddress;

/// How one software device is set up: an entry of the system property `rdmacomm.soft.devices`, for example
/// `soft1=10.0.0.1?sharedMemory=false&checksum=true`.
///
/// @param name what programs open it by
/// @param address what it is bound to: its GID, and where it listens
/// @param sharedMemory whether it reaches peers on its own host over shared memory; if not, only over TCP
/// @param checksum whether TCP links have a checksum (CRC-32C) if the peer does not insist on one
record DeviceSettings(String name, InetAddress address, boolean sharedMemory, boolean checksum) {
    private static final String DEFAULT_ADDRESS = "127.0.0.1";

    /// Reads one entry.
    ///
    /// @throws IllegalArgumentException if it cannot be understood; the message says why
    static DeviceSettings parse(String entry) {
        String[] nameAndRest = entry.strip().split("=", 2);
        String rest = nameAndRest.length == 2 ? nameAndRest[1] : DEFAULT_ADDRESS;
        String[] addressAndOptions = rest.split("\\?", 2);
        InetAddress address = address(addressAndOptions[0]);
        boolean shared = true;
        // Data that leaves the host is worth a checksum; what stays is not.
        boolean checked = !address.isLoopbackAddress();
        if (addressAndOptions.length == 2) {
            for (String option : addressAndOptions[1].split("&", -1)) {
                switch (option) {
                    case "sharedMemory=true" -> shared = true;
                    case "sharedMemory=false" -> shared = false;
                    case "checksum=true" -> checked = true;
                    case "checksum=false" -> checked = false;
                    default ->
                        throw new IllegalArgumentException("rdmacomm.soft.devices: '" + option
                                + "' is not an option; there are sharedMemory=true|false and checksum=true|false");
                }
            }
        }
        return new DeviceSettings(nameAndRest[0], address, shared, checked);
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
