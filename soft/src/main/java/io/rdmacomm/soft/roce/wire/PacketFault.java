package io.rdmacomm.soft.roce.wire;

/// Why a packet is dropped.
public enum PacketFault {
    /// No fault.
    NONE,
    /// It is shorter than its headers.
    TOO_SHORT,
    /// Its header has another version.
    VERSION,
    /// Its opcode is unknown.
    OPCODE,
    /// Its partition key is not the default one.
    PARTITION_KEY,
    /// It has a payload that it must not have.
    PAYLOAD,
    /// Its length is not a multiple of 4 bytes.
    PADDING,
    /// Its invariant CRC is wrong.
    CHECKSUM
}
