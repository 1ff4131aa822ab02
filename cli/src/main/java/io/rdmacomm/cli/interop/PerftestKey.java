package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The queue pair and the memory of one end, as hexadecimal text that ends with a NUL. The GID is present only if
/// the program uses one, which it always does on Ethernet.
///
/// ```
/// 0000:0001:000011:a1b2c3:00001234:00007f0012345000:00000000\0
/// LID reads QPN    PSN    key      address           shared receive queue
///
/// 0000:0001:000011:a1b2c3:00001234:00007f0012345000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:09:00:01:00000000:\0
///                                                   the 16 bytes of the GID in network order
/// ```
///
/// @param lid the local identifier, 16 bits
/// @param reads the READs and atomics that this end answers at a time, 16 bits
/// @param number the queue pair number, 24 bits
/// @param packetSequenceNumber the first packet sequence number, 24 bits
/// @param remoteKey the key of the memory for incoming data
/// @param address the address of that memory
/// @param gid the global identifier; [Gid#NONE] if the program uses none
record PerftestKey(int lid, int reads, int number, int packetSequenceNumber, int remoteKey, long address, Gid gid) {
    /// The length of the text without a GID, including its NUL.
    static final int BYTES = 59;
    /// The length of the text with a GID, including its NUL.
    static final int BYTES_WITH_GID = 108;

    private static final Pattern TEXT = Pattern.compile("([0-9a-fA-F]{4}):([0-9a-fA-F]{4}):([0-9a-fA-F]{6})"
            + ":([0-9a-fA-F]{6}):([0-9a-fA-F]{8}):([0-9a-fA-F]{16})"
            + "(?::[0-9a-fA-F]{8}|:((?:[0-9a-fA-F]{2}:){16})[0-9a-fA-F]{8}:)\0");
    private static final HexFormat OCTETS = HexFormat.of().withSuffix(":");

    /// The text as bytes.
    byte[] encode() {
        String head = String.format(
                Locale.ROOT,
                "%04x:%04x:%06x:%06x:%08x:%016x:",
                lid,
                reads,
                number,
                packetSequenceNumber,
                remoteKey,
                address);
        String tail = gid.equals(Gid.NONE) ? "00000000\0" : OCTETS.formatHex(gid.bytes()) + "00000000:\0";
        return (head + tail).getBytes(StandardCharsets.US_ASCII);
    }

    /// Reads what [#encode()] or a C program wrote.
    ///
    /// @param peer the sender, for the error message
    /// @param program the C program that should run there
    /// @throws CommandFailure if the text is anything else
    static PerftestKey decode(byte[] bytes, String peer, String program) {
        Matcher matcher = TEXT.matcher(new String(bytes, StandardCharsets.US_ASCII));
        if (!matcher.matches()) {
            throw new CommandFailure(peer + " speaks a different protocol than " + program
                    + ": check that it runs on that port, without -R and -z");
        }
        String gid = matcher.group(7);
        return new PerftestKey(
                HexFormat.fromHexDigits(matcher.group(1)),
                HexFormat.fromHexDigits(matcher.group(2)),
                HexFormat.fromHexDigits(matcher.group(3)),
                HexFormat.fromHexDigits(matcher.group(4)),
                HexFormat.fromHexDigits(matcher.group(5)),
                HexFormat.fromHexDigitsToLong(matcher.group(6)),
                gid == null ? Gid.NONE : Gid.ofBytes(OCTETS.parseHex(gid)));
    }
}
