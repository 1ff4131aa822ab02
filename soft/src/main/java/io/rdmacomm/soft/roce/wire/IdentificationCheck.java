package io.rdmacomm.soft.roce.wire;

import java.util.function.IntUnaryOperator;

/// Checks the invariant CRC of a packet although the identification in its IP header is not known. A CRC is linear:
/// the difference between the CRC of the packet and the one that was computed with the identification 0 depends on the
/// identification alone, and on whether the sender forbids fragments. That makes 2^17 differences, so one wrong CRC in
/// 2^15 is not found, and one flipped bit in 2^15: it looks like another identification.
///
/// The difference is taken back over the bytes behind the identification, as if they were zero. The rest must be a
/// register that two bytes have made of zero. Taking back is a linear map of 32 bits, so it is stored as tables for
/// 1, 2, 4, ... bytes. Thread-safe; allocates nothing.
public final class IdentificationCheck {
    /// Behind the identification: the rest of the IP header and the UDP header.
    private static final int HEADERS_BEHIND = 22;
    /// The bit that says not to fragment, in the byte behind the identification.
    private static final int DONT_FRAGMENT = 0x40;

    private static final int POLYNOMIAL = 0xedb8_8320;
    private static final int BYTE_VALUES = 256;
    private static final int BYTES_OF_INT = 4;
    private static final int POWERS = 16;
    private static final int[][] BACK = new int[POWERS][];
    /// The register that a byte makes of zero.
    private static final int[] STEP = new int[BYTE_VALUES];
    /// The byte whose step has this top byte: no two have the same.
    private static final int[] FIRST_BYTE = new int[BYTE_VALUES];

    static {
        for (int value = 0; value < BYTE_VALUES; value++) {
            int register = value;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                register = (register & 1) != 0 ? register >>> 1 ^ POLYNOMIAL : register >>> 1;
            }
            STEP[value] = register;
            FIRST_BYTE[register >>> 24] = value;
        }
        BACK[0] = table(IdentificationCheck::backByBits);
        for (int power = 1; power < POWERS; power++) {
            int[] half = BACK[power - 1];
            BACK[power] = table(register -> map(half, map(half, register)));
        }
    }

    private IdentificationCheck() {}

    /// A linear map as a table for each byte of the register.
    private static int[] table(IntUnaryOperator linear) {
        int[] table = new int[BYTES_OF_INT * BYTE_VALUES];
        for (int index = 0; index < table.length; index++) {
            table[index] = linear.applyAsInt((index & 0xff) << (Byte.SIZE * (index / BYTE_VALUES)));
        }
        return table;
    }

    private static int map(int[] table, int register) {
        return table[register & 0xff]
                ^ table[BYTE_VALUES + (register >>> 8 & 0xff)]
                ^ table[2 * BYTE_VALUES + (register >>> 16 & 0xff)]
                ^ table[3 * BYTE_VALUES + (register >>> 24)];
    }

    private static int backByBits(int register) {
        int before = register;
        for (int bit = 0; bit < Byte.SIZE; bit++) {
            before = before < 0 ? (before ^ POLYNOMIAL) << 1 | 1 : before << 1;
        }
        return before;
    }

    /// Whether an identification explains the difference between two CRCs.
    ///
    /// @param found the CRC of the packet, as read from a big-endian buffer
    /// @param expected what [InvariantCrc#of] gives
    /// @param bytes of the packet without the CRC
    public static boolean explains(int found, int expected, int bytes) {
        int register = Integer.reverseBytes(found ^ expected);
        int behind = HEADERS_BEHIND + bytes;
        for (int power = 0; behind >>> power != 0; power++) {
            if ((behind >>> power & 1) != 0) {
                register = map(BACK[power], register);
            }
        }
        return isTwoBytes(register) || isTwoBytes(register ^ DONT_FRAGMENT);
    }

    /// Whether two bytes make this register of zero.
    private static boolean isTwoBytes(int register) {
        int afterFirst = map(BACK[0], register);
        // The second byte changes the low 8 bits only.
        return (afterFirst ^ STEP[FIRST_BYTE[afterFirst >>> 24]]) >>> Byte.SIZE == 0;
    }
}
