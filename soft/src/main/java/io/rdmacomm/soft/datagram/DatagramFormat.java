package io.rdmacomm.soft.datagram;

import io.rdmacomm.verbs.GlobalRoutingHeader;

/// The format of a datagram in a UDP packet. Numbers are in network order.
///
/// ```
///  0  magic          4   "rUD1"
///  4  destination    4   queue pair number
///  8  source         4   queue pair number
/// 12  queue key      4
/// 16  immediate      4   or 0
/// 20  source LID     2
/// 22  traffic class  1
/// 23  flags          1
/// 24  hop limit      1
/// 25  zero           3
/// 28  payload
/// ```
final class DatagramFormat {
    static final int MAGIC = 0x7255_4431;
    static final int MAGIC_AT = 0;
    static final int DESTINATION = 4;
    static final int SOURCE = 8;
    static final int QUEUE_KEY = 12;
    static final int IMMEDIATE = 16;
    static final int SOURCE_LID = 20;
    static final int TRAFFIC_CLASS = 22;
    static final int FLAGS = 23;
    static final int HOP_LIMIT = 24;
    static final int HEADER_BYTES = 28;

    static final int FLAG_IMMEDIATE = 1;
    static final int FLAG_SOLICITED = 2;

    /// The room before a packet that makes its payload follow a global routing header.
    static final int LEAD = GlobalRoutingHeader.BYTES - HEADER_BYTES;

    private DatagramFormat() {}
}
