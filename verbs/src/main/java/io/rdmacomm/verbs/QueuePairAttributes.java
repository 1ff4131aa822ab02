package io.rdmacomm.verbs;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What [QueuePair#modify(QueuePairAttributes)] sets and [QueuePair#query()] returns (`struct ibv_qp_attr`).
///
/// Each setter marks its attribute as present; a transition takes exactly those that its row of the state table
/// requires or allows (ibv_modify_qp(3)). Not safe for use by several threads.
public final class QueuePairAttributes {
    private final EnumSet<QueuePairAttribute> present = EnumSet.noneOf(QueuePairAttribute.class);
    private QueuePairState state = QueuePairState.RESET;
    private QueuePairState currentState = QueuePairState.RESET;
    private boolean drainNotification;
    private int accessFlags;
    private int partitionKeyIndex;
    private int port;
    private int queueKey;
    private @Nullable AddressVector addressVector;
    private PathMtu pathMtu = PathMtu.MTU_4096;
    private AckTimeout timeout = AckTimeout.INFINITE;
    private int retryCount;
    private int rnrRetry;
    private int receivePsn;
    private int sendPsn;
    private int maxReadAtomic;
    private int maxDestinationReadAtomic;
    private RnrTimer minRnrTimer = new RnrTimer(0);
    private int destinationNumber;

    /// Attributes with nothing set.
    public QueuePairAttributes() {}

    /// The attributes that were set.
    public Set<QueuePairAttribute> present() {
        return EnumSet.copyOf(present);
    }

    /// Whether `attribute` was set.
    public boolean has(QueuePairAttribute attribute) {
        return present.contains(attribute);
    }

    /// The state to go to.
    public QueuePairState state() {
        return state;
    }

    /// Sets the state to go to.
    public QueuePairAttributes state(QueuePairState value) {
        present.add(QueuePairAttribute.STATE);
        state = value;
        return this;
    }

    /// The state the caller believes the queue pair to be in.
    public QueuePairState currentState() {
        return currentState;
    }

    /// Sets the state the caller believes the queue pair to be in; the transition fails if it is another.
    public QueuePairAttributes currentState(QueuePairState value) {
        present.add(QueuePairAttribute.CURRENT_STATE);
        currentState = value;
        return this;
    }

    /// Whether [AsyncEventType#SEND_QUEUE_DRAINED] is raised.
    public boolean drainNotification() {
        return drainNotification;
    }

    /// Sets whether [AsyncEventType#SEND_QUEUE_DRAINED] is raised.
    public QueuePairAttributes drainNotification(boolean value) {
        present.add(QueuePairAttribute.DRAIN_NOTIFICATION);
        drainNotification = value;
        return this;
    }

    /// What the peer may do through this queue pair, as a mask of [AccessFlag#bit()].
    public int accessFlags() {
        return accessFlags;
    }

    /// Sets what the peer may do through this queue pair.
    public QueuePairAttributes accessFlags(Set<AccessFlag> value) {
        return accessFlags(AccessFlag.mask(value));
    }

    /// Sets what the peer may do through this queue pair, as a mask of [AccessFlag#bit()].
    public QueuePairAttributes accessFlags(int mask) {
        present.add(QueuePairAttribute.ACCESS_FLAGS);
        accessFlags = mask;
        return this;
    }

    /// Index into the port's table of partition keys.
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /// Sets the index into the port's table of partition keys.
    public QueuePairAttributes partitionKeyIndex(int value) {
        present.add(QueuePairAttribute.PARTITION_KEY_INDEX);
        partitionKeyIndex = value;
        return this;
    }

    /// The local port, counted from 1.
    public int port() {
        return port;
    }

    /// Sets the local port, counted from 1.
    public QueuePairAttributes port(int value) {
        present.add(QueuePairAttribute.PORT);
        port = value;
        return this;
    }

    /// The key that datagrams must carry.
    public int queueKey() {
        return queueKey;
    }

    /// Sets the key that datagrams must carry.
    public QueuePairAttributes queueKey(int value) {
        present.add(QueuePairAttribute.QUEUE_KEY);
        queueKey = value;
        return this;
    }

    /// The way to the peer; null when it was never set.
    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    /// Sets the way to the peer.
    public QueuePairAttributes addressVector(AddressVector value) {
        present.add(QueuePairAttribute.ADDRESS_VECTOR);
        addressVector = value;
        return this;
    }

    /// The largest packet payload.
    public PathMtu pathMtu() {
        return pathMtu;
    }

    /// Sets the largest packet payload.
    public QueuePairAttributes pathMtu(PathMtu value) {
        present.add(QueuePairAttribute.PATH_MTU);
        pathMtu = value;
        return this;
    }

    /// How long to wait for an acknowledgement before a request is repeated.
    public AckTimeout timeout() {
        return timeout;
    }

    /// Sets how long to wait for an acknowledgement before a request is repeated.
    public QueuePairAttributes timeout(AckTimeout value) {
        present.add(QueuePairAttribute.TIMEOUT);
        timeout = value;
        return this;
    }

    /// How often an unanswered request is repeated.
    public int retryCount() {
        return retryCount;
    }

    /// Sets how often an unanswered request is repeated, 0 to 7.
    public QueuePairAttributes retryCount(int value) {
        present.add(QueuePairAttribute.RETRY_COUNT);
        retryCount = value;
        return this;
    }

    /// How often a request is repeated whose peer had no receive; 7 means for ever.
    public int rnrRetry() {
        return rnrRetry;
    }

    /// Sets how often a request is repeated whose peer had no receive, 0 to 6; 7 means for ever.
    public QueuePairAttributes rnrRetry(int value) {
        present.add(QueuePairAttribute.RNR_RETRY);
        rnrRetry = value;
        return this;
    }

    /// The first packet sequence number that is expected.
    public int receivePsn() {
        return receivePsn;
    }

    /// Sets the first packet sequence number that is expected, 24 bits: the peer's [#sendPsn()].
    public QueuePairAttributes receivePsn(int value) {
        present.add(QueuePairAttribute.RECEIVE_PSN);
        receivePsn = value;
        return this;
    }

    /// The first packet sequence number that is sent.
    public int sendPsn() {
        return sendPsn;
    }

    /// Sets the first packet sequence number that is sent, 24 bits.
    public QueuePairAttributes sendPsn(int value) {
        present.add(QueuePairAttribute.SEND_PSN);
        sendPsn = value;
        return this;
    }

    /// READs and atomics this side may have outstanding.
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /// Sets how many READs and atomics this side may have outstanding.
    public QueuePairAttributes maxReadAtomic(int value) {
        present.add(QueuePairAttribute.MAX_READ_ATOMIC);
        maxReadAtomic = value;
        return this;
    }

    /// READs and atomics the peer may have outstanding.
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /// Sets how many READs and atomics the peer may have outstanding.
    public QueuePairAttributes maxDestinationReadAtomic(int value) {
        present.add(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        maxDestinationReadAtomic = value;
        return this;
    }

    /// How long the peer waits before it repeats a message that found no receive here.
    public RnrTimer minRnrTimer() {
        return minRnrTimer;
    }

    /// Sets how long the peer waits before it repeats a message that found no receive here.
    public QueuePairAttributes minRnrTimer(RnrTimer value) {
        present.add(QueuePairAttribute.MIN_RNR_TIMER);
        minRnrTimer = value;
        return this;
    }

    /// The peer's queue pair number.
    public int destinationNumber() {
        return destinationNumber;
    }

    /// Sets the peer's queue pair number.
    public QueuePairAttributes destinationNumber(int value) {
        present.add(QueuePairAttribute.DESTINATION_NUMBER);
        destinationNumber = value;
        return this;
    }

    /// Takes over everything that `change` has set.
    void apply(QueuePairAttributes change) {
        for (QueuePairAttribute attribute : change.present) {
            switch (attribute) {
                case STATE -> state(change.state);
                case CURRENT_STATE -> {}
                case DRAIN_NOTIFICATION -> drainNotification(change.drainNotification);
                case ACCESS_FLAGS -> accessFlags(change.accessFlags);
                case PARTITION_KEY_INDEX -> partitionKeyIndex(change.partitionKeyIndex);
                case PORT -> port(change.port);
                case QUEUE_KEY -> queueKey(change.queueKey);
                case ADDRESS_VECTOR -> {
                    present.add(attribute);
                    addressVector = change.addressVector;
                }
                case PATH_MTU -> pathMtu(change.pathMtu);
                case TIMEOUT -> timeout(change.timeout);
                case RETRY_COUNT -> retryCount(change.retryCount);
                case RNR_RETRY -> rnrRetry(change.rnrRetry);
                case RECEIVE_PSN -> receivePsn(change.receivePsn);
                case SEND_PSN -> sendPsn(change.sendPsn);
                case MAX_READ_ATOMIC -> maxReadAtomic(change.maxReadAtomic);
                case MAX_DESTINATION_READ_ATOMIC -> maxDestinationReadAtomic(change.maxDestinationReadAtomic);
                case MIN_RNR_TIMER -> minRnrTimer(change.minRnrTimer);
                case DESTINATION_NUMBER -> destinationNumber(change.destinationNumber);
                case ALTERNATE_PATH, PATH_MIGRATION, CAPACITY -> present.add(attribute);
            }
        }
    }
}
