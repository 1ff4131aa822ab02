package io.rdmacomm.verbs;

/// The attributes with which [QueuePair#startDatagrams(DatagramOptions)] brings up a datagram queue pair
/// (ibv_modify_qp(3)).
///
/// @param port the local port, counted from 1
/// @param partitionKeyIndex the index in the port's table of partition keys
/// @param queueKey the key that a datagram must carry to be received, the same for all who talk with each other; it
///        keeps out what was meant for others, and is no secret. On Linux a value with the highest bit set is for
///        privileged programs only
public record DatagramOptions(int port, int partitionKeyIndex, int queueKey) {
    /// Checks the ranges.
    public DatagramOptions {
        Checks.range("port", port, 1, 255);
        Checks.range("partition key index", partitionKeyIndex, 0, 0xffff);
    }

    /// Port 1 and partition key 0 with this queue key.
    public static DatagramOptions ofKey(int queueKey) {
        return new DatagramOptions(1, 0, queueKey);
    }

    /// These options with another port, counted from 1.
    public DatagramOptions withPort(int number) {
        return new DatagramOptions(number, partitionKeyIndex, queueKey);
    }

    /// These options with the port and the partition key of a path.
    public DatagramOptions withPath(PathOptions path) {
        return new DatagramOptions(path.port(), path.partitionKeyIndex(), queueKey);
    }

    QueuePairAttributes initialize() {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(partitionKeyIndex)
                .port(port)
                .queueKey(queueKey);
    }

    static QueuePairAttributes readyToReceive() {
        return new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE);
    }

    static QueuePairAttributes readyToSend(int packetSequenceNumber) {
        return new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(packetSequenceNumber);
    }
}
