package io.rdmacomm.verbs.counters;

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
///   0    8                      112           136            264        392           456     512
///  +----+--------------------------+-------------+--------------+----------+-------------+-------+
///  | id | 12 counters, in flight   | 0           | text: session|text: peer|text: channel| 0     |
///  +----+--------------------------+-------------+--------------+----------+-------------+-------+
/// text: its length in bytes (2), then UTF-8
/// ```
///
/// The checksum covers the whole file, with zero in its own place. It shows a reader that the file was rewritten
/// while it was read. Magic and version keep their places in later versions.
final class CountersLayout {
    /// `rdmacnt` and a zero.
    static final long MAGIC = 0x00746e63616d6472L;
    static final int VERSION = 1;

    static final int HEADER_BYTES = 512;
    static final int RECORD_BYTES = 512;
    static final int MOST_RECORDS = 1024;
    static final int MOST_BYTES = HEADER_BYTES + MOST_RECORDS * RECORD_BYTES;

    // Offsets in the header.
    static final int MAGIC_AT = 0;
    static final int VERSION_AT = 8;
    static final int RECORDS_AT = 12;
    static final int PID_AT = 16;
    static final int START_AT = 24;
    static final int NAMESPACE_AT = 32;
    static final int NANOS_AT = 40;
    static final int MILLIS_AT = 48;
    static final int LEFT_OUT_AT = 56;
    static final int CHECKSUM_AT = 60;
    static final int COMMAND_AT = 64;
    static final int COMMAND_BYTES = HEADER_BYTES - COMMAND_AT;

    // Offsets in a record.
    static final int ID_AT = 0;
    static final int COUNTERS_AT = 8;
    static final int SESSION_AT = 136;
    static final int PEER_AT = 264;
    static final int CHANNEL_AT = 392;
    static final int NAME_BYTES = 128;
    static final int CHANNEL_BYTES = 64;

    private CountersLayout() {}
}
