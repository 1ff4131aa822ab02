package io.rdmacomm.soft;

import io.rdmacomm.soft.tcp.TcpSettings;
import io.rdmacomm.verbs.Gid;
import java.net.InetAddress;

/// The settings of one software device: an entry of the system property `rdmacomm.soft.devices`, for example
/// `soft1=10.0.0.1?sharedMemory=false&checksum=true`.
///
/// @param name the name that programs open it by
/// @param sharedMemory whether it uses shared memory for peers on its own host; if not, only TCP
/// @param roce whether it uses only RoCE v2 packets, and neither shared memory nor TCP
/// @param bursts whether RoCE packets leave in batches, through the C library, if this program has native access
/// @param tcp the settings for TCP; its address is also the device's GID
record DeviceSettings(String name, boolean sharedMemory, boolean roce, boolean bursts, TcpSettings tcp) {
    private static final String DEFAULT_ADDRESS = "127.0.0.1";
    private static final String SEGMENT = "segment=";
    private static final String SILENCE = "silence=";
    /// The segment size that every path supports (RFC 9293 3.7.1).
    private static final int SHORTEST_SEGMENT = 536;
    private static final int LONGEST_SEGMENT = 0xffff;
    /// TCP counts whole seconds (tcp(7)).
    private static final int SHORTEST_SILENCE = 4;
    private static final int LONGEST_SILENCE = 9 * 3600;

    /// Reads one entry.
    ///
    /// @throws IllegalArgumentException if it is not valid; the message says why
    static DeviceSettings parse(String entry) {
        String[] nameAndRest = entry.strip().split("=", 2);
        String rest = nameAndRest.length == 2 ? nameAndRest[1] : DEFAULT_ADDRESS;
        String[] addressAndOptions = rest.split("\\?", 2);
        InetAddress address = address(addressAndOptions[0]);
        boolean shared = true;
        TcpSettings.Checksum checksum = TcpSettings.Checksum.BETWEEN_HOSTS;
        int segment = TcpSettings.NO_LIMIT;
        int silence = TcpSettings.USUAL_SILENCE;
        boolean anywhere = false;
        boolean roce = false;
        boolean bursts = true;
        if (addressAndOptions.length == 2) {
            for (String option : addressAndOptions[1].split("&", -1)) {
                switch (option) {
                    case "sharedMemory=true" -> shared = true;
                    case "sharedMemory=false" -> shared = false;
                    case "transport=roce" -> roce = true;
                    case "transport=iwarp" -> roce = false;
                    case "bursts=true" -> bursts = true;
                    case "bursts=false" -> bursts = false;
                    case "callers=any" -> anywhere = true;
                    case "callers=peer" -> anywhere = false;
                    case "checksum=true" -> checksum = TcpSettings.Checksum.ALWAYS;
                    case "checksum=false" -> checksum = TcpSettings.Checksum.NEVER;
                    default -> {
                        if (option.startsWith(SILENCE)) {
                            silence = silence(option);
                        } else {
                            segment = segment(option);
                        }
                    }
                }
            }
        }
        return new DeviceSettings(
                nameAndRest[0],
                shared && !roce,
                roce,
                bursts,
                new TcpSettings(address, checksum, segment, silence, anywhere));
    }

    /// The address that the device is bound to.
    Gid gid() {
        return Gid.of(tcp.address());
    }

    /// A locally administered GUID derived from the name and the address, so that each start has the same.
    long guid() {
        return 0x0200_0000_0000_0000L | (name.hashCode() & 0xffffL) << 32 | (gid().low() & 0xffff_ffffL);
    }

    private static int segment(String option) {
        if (!option.startsWith(SEGMENT)) {
            throw new IllegalArgumentException(
                    "rdmacomm.soft.devices: '" + option
                            + "' is not an option; there are transport=iwarp|roce, bursts=true|false, sharedMemory=true|false, checksum=true|false, segment=BYTES, silence=SECONDS and callers=peer|any");
        }
        int bytes = number(option.substring(SEGMENT.length()));
        if (bytes < SHORTEST_SEGMENT || bytes > LONGEST_SEGMENT) {
            throw new IllegalArgumentException("rdmacomm.soft.devices: '" + option
                    + "' is not the payload of a TCP segment; write " + SHORTEST_SEGMENT + " to " + LONGEST_SEGMENT
                    + " bytes, for example " + SEGMENT + "1440");
        }
        return bytes;
    }

    private static int silence(String option) {
        int seconds = number(option.substring(SILENCE.length()));
        if (seconds < SHORTEST_SILENCE || seconds > LONGEST_SILENCE) {
            throw new IllegalArgumentException("rdmacomm.soft.devices: '" + option
                    + "' is not how long a peer's host may be silent; write " + SHORTEST_SILENCE + " to "
                    + LONGEST_SILENCE + " seconds, for example " + SILENCE + TcpSettings.USUAL_SILENCE);
        }
        return seconds;
    }

    /// @return 0 if it is not a number
    private static int number(String digits) {
        return digits.matches("[0-9]{1,5}") ? Integer.parseInt(digits) : 0;
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
