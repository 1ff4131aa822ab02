package io.rdmacomm.verbs;

import org.jspecify.annotations.Nullable;

/// The attributes with which [QueuePair#startDatagrams(DatagramOptions)] brings up a datagram queue pair
/// (ibv_modify_qp(3)). Immutable.
public final class DatagramOptions extends ValueObject<DatagramOptions> {
    private int port = 1;
    private int partitionKeyIndex;
    private int queueKey;

    private DatagramOptions() {}

    /// Port 1 and partition key 0 with this queue key.
    public static DatagramOptions ofKey(int queueKey) {
        return new DatagramOptions().with(copy -> copy.queueKey = queueKey);
    }

    /// These options with another port, counted from 1.
    public DatagramOptions withPort(int number) {
        return with(copy -> copy.port = number);
    }

    /// These options with another partition key.
    ///
    /// @param index the index in the port's table, 0 to 65535
    public DatagramOptions withPartitionKeyIndex(int index) {
        return with(copy -> copy.partitionKeyIndex = index);
    }

    /// These options with the port and the partition key of a path.
    public DatagramOptions withPath(PathOptions path) {
        return withPort(path.port()).withPartitionKeyIndex(path.partitionKeyIndex());
    }

    /// The local port, counted from 1.
    public int port() {
        return port;
    }

    /// The index in the port's table of partition keys.
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /// The key that a datagram must carry to be received, the same for all communicating queue pairs. It filters
    /// out other datagrams and is not a secret. On Linux, values with the highest bit set are for privileged
    /// programs only.
    public int queueKey() {
        return queueKey;
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

    @Override
    void check() {
        Checks.range("port", port, 1, 255);
        Checks.range("partition key index", partitionKeyIndex, 0, 0xffff);
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {"port", port, "partitionKeyIndex", partitionKeyIndex, "queueKey", queueKey};
    }
}
