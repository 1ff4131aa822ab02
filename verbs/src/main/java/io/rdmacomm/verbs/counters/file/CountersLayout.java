package io.rdmacomm.verbs.counters.file;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/// The layout of a counters file: a header and a record for each channel, both of 512 bytes, little-endian.
///
/// ```
/// header
///   0       8     12      16      24      32          40
///  +-------+-------+-------+-------+-------+-----------+
///  | magic |version|records|  pid  | start | namespace |
///  +-------+-------+-------+-------+-------+-----------+
///  40         48          56       60         64                 512
///  +----------+-----------+--------+----------+-------------------+
///  | nanoTime | millis    |left out| CRC32C   | text: command     |
///  +----------+-----------+--------+----------+-------------------+
/// record
///   0    8                      112           136            264        392           456
///  +----+--------------------------+-------------+--------------+----------+-------------+
///  | id | 12 counters, in flight   | 0           | text: session|text: peer|text: channel|
///  +----+--------------------------+-------------+--------------+----------+-------------+
///  456                 464                472     512
///  +-------------------+------------------+-------+
///  | registered memory | limit for it     | 0     |
///  +-------------------+------------------+-------+
/// text: its length in bytes (2), then UTF-8
/// ```
///
/// The checksum covers the whole file, with zero in its own place. It shows a reader that the file was rewritten
/// while it was read. Magic and version keep their places in later versions.
public final class CountersLayout {
    /// `rdmacnt` and a zero.
    public static final long MAGIC = 0x00746e63616d6472L;
    /// Readers reject every other one.
    public static final int VERSION = 1;

    // Sizes.
    public static final int HEADER_BYTES = 512;
    public static final int RECORD_BYTES = 512;
    public static final int MOST_RECORDS = 1024;
    public static final int MOST_BYTES = HEADER_BYTES + MOST_RECORDS * RECORD_BYTES;

    // Offsets in the header.
    public static final int MAGIC_AT = 0;
    public static final int VERSION_AT = 8;
    public static final int RECORDS_AT = 12;
    public static final int PID_AT = 16;
    public static final int START_AT = 24;
    public static final int NAMESPACE_AT = 32;
    public static final int NANOS_AT = 40;
    public static final int MILLIS_AT = 48;
    public static final int LEFT_OUT_AT = 56;
    public static final int CHECKSUM_AT = 60;
    public static final int COMMAND_AT = 64;
    public static final int COMMAND_BYTES = HEADER_BYTES - COMMAND_AT;

    // Offsets in a record.
    public static final int ID_AT = 0;
    public static final int COUNTERS_AT = 8;
    public static final int SESSION_AT = 136;
    public static final int PEER_AT = 264;
    public static final int CHANNEL_AT = 392;
    public static final int REGISTERED_AT = 456;
    public static final int LIMIT_AT = 464;
    public static final int NAME_BYTES = 128;
    public static final int CHANNEL_BYTES = 64;

    private CountersLayout() {}

    /// The offset of a record in the file.
    public static int recordAt(int index) {
        return HEADER_BYTES + index * RECORD_BYTES;
    }

    /// The offset of a counter in the file; the number of operations in flight follows the last one.
    ///
    /// @param record the offset of the record
    public static int counterAt(int record, int index) {
        return record + COUNTERS_AT + index * Long.BYTES;
    }

    /// The checksum that a file must have.
    public static int checksum(ByteBuffer file) {
        CRC32C checksum = new CRC32C();
        checksum.update(file.slice(0, CHECKSUM_AT));
        checksum.update(new byte[Integer.BYTES]);
        int rest = CHECKSUM_AT + Integer.BYTES;
        checksum.update(file.slice(rest, file.capacity() - rest));
        return (int) checksum.getValue();
    }
}
