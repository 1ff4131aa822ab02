package io.rdmacomm.verbs;

/// The numbers that a peer needs to connect to a queue pair.
///
/// @param number the queue pair number, 24 bits
/// @param packetSequenceNumber the first packet sequence number it sends, 24 bits
/// @param lid the local identifier of its port, 16 bits
/// @param gid the global identifier of its port
/// @param mtu the largest packet payload of its port
public record QueuePairInfo(int number, int packetSequenceNumber, int lid, Gid gid, PathMtu mtu) {
    /// Checks the ranges.
    public QueuePairInfo {
        Checks.range("queue pair number", number, 0, 0xffffff);
        Checks.range("packet sequence number", packetSequenceNumber, 0, 0xffffff);
        Checks.range("LID", lid, 0, 0xffff);
    }
}
