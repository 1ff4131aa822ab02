package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Gid;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The address of a queue pair, which the two sides of ibv_rc_pingpong(1) exchange over TCP as 52 bytes of
/// hexadecimal text with a NUL at the end.
///
/// ```
/// 0000:000012:a1b2c3:00000000000000000000ffff0a090001\0
/// LID  QPN    PSN    the 16 bytes of the GID in network order
/// ```
///
/// @param lid the local identifier, 16 bits
/// @param number the queue pair number, 24 bits
/// @param packetSequenceNumber the first packet sequence number, 24 bits
/// @param gid the global identifier; [Gid#NONE] if the C program was started without -g
public record PingPongAddress(int lid, int number, int packetSequenceNumber, Gid gid) {
    /// The length of the text including its NUL.
    public static final int BYTES = 52;

    // The C program prints with %04x and %06x and reads with %x: the number of digits matters, but not their case.
    private static final Pattern TEXT =
            Pattern.compile("([0-9a-fA-F]{4}):([0-9a-fA-F]{6}):([0-9a-fA-F]{6}):([0-9a-fA-F]{32})\0");

    /// The text as bytes.
    public byte[] encode() {
        String text = String.format(
                Locale.ROOT,
                "%04x:%06x:%06x:%s\0",
                lid,
                number,
                packetSequenceNumber,
                HexFormat.of().formatHex(gid.bytes()));
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /// Reads what [#encode()] or the C program wrote.
    ///
    /// @param peer the sender, for the error message
    /// @param program the C program that should run there
    /// @throws CommandFailure if the text is anything else
    public static PingPongAddress decode(byte[] bytes, String peer, String program) {
        Matcher matcher = TEXT.matcher(new String(bytes, StandardCharsets.US_ASCII));
        if (!matcher.matches()) {
            throw new CommandFailure(peer + " speaks a different protocol than " + program + ": check that " + program
                    + " runs on that port");
        }
        String gid = matcher.group(4);
        return new PingPongAddress(
                HexFormat.fromHexDigits(matcher.group(1)),
                HexFormat.fromHexDigits(matcher.group(2)),
                HexFormat.fromHexDigits(matcher.group(3)),
                new Gid(HexFormat.fromHexDigitsToLong(gid, 0, 16), HexFormat.fromHexDigitsToLong(gid, 16, 32)));
    }

    /// As the C program prints it.
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s",
                lid,
                number,
                packetSequenceNumber,
                gid.equals(Gid.NONE) ? "::" : gid);
    }
}
