package io.rdmacomm.soft.roce.wire;

import java.util.function.IntUnaryOperator;

/// Checks the invariant CRC of a packet although the identification in its IP header is unknown. A CRC is linear:
/// the difference between the packet's CRC and the one computed with the identification 0 depends only on the
/// identification, and on whether the sender forbids fragments. There are 2^17 such differences, so one of 2^15
/// wrong CRCs, or flipped bits, goes undetected: it looks like another identification.
///
/// The difference is rolled back over the bytes after the identification, as if they were zero. The result must be
/// a register that two bytes can produce from zero. Rolling back is a linear map of 32 bits, stored as tables for
/// 1, 2, 4, ... bytes. Thread-safe; allocates nothing.
public final class IdentificationCheck {
    /// The bytes after the identification: the rest of the IP header and the UDP header.
    private static final int HEADERS_BEHIND = 22;
    /// The don't-fragment bit, in the byte after the identification.
    private static final int DONT_FRAGMENT = 0x40;

    private static final int POLYNOMIAL = 0xedb8_8320;
    private static final int BYTE_VALUES = 256;
    private static final int BYTES_OF_INT = 4;
    private static final int POWERS = 16;
    private static final int[][] BACK = new int[POWERS][];
    /// The register that a byte produces from zero.
    private static final int[] STEP = new int[BYTE_VALUES];
    /// The byte whose step has this top byte; it is unique.
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
    /// @param expected the result of [InvariantCrc#of]
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

    /// Whether two bytes can produce this register from zero.
    private static boolean isTwoBytes(int register) {
        int afterFirst = map(BACK[0], register);
        // The second byte changes only the low 8 bits.
        return (afterFirst ^ STEP[FIRST_BYTE[afterFirst >>> 24]]) >>> Byte.SIZE == 0;
    }
}
