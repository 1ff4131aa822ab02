package io.rdmacomm.verbs;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Attributes of a queue pair, for [QueuePair#modify(QueuePairAttributes)] and [QueuePair#query()] (`struct
/// ibv_qp_attr`).
///
/// Each setter marks its attribute as present. A transition must set every attribute that the state table
/// requires for it, and only those that it allows (ibv_modify_qp(3)). Not thread-safe.
///
/// The alternate path, path migration and the rate limit of the C struct are not supported.
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
    private QueueSizes sizes = new QueueSizes(0, 0, 0, 0, 0);
    private boolean draining;

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

    /// The new state.
    public QueuePairState state() {
        return state;
    }

    /// Sets the new state.
    public QueuePairAttributes state(QueuePairState value) {
        present.add(QueuePairAttribute.STATE);
        state = value;
        return this;
    }

    /// The state that the caller assumes the queue pair is in.
    public QueuePairState currentState() {
        return currentState;
    }

    /// Sets the state that the caller assumes the queue pair is in; the transition fails if it is in another.
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

    /// The rights of the peer through this queue pair, as a mask of [AccessFlag#bit()].
    public int accessFlags() {
        return accessFlags;
    }

    /// Sets the rights of the peer through this queue pair.
    public QueuePairAttributes accessFlags(Set<AccessFlag> value) {
        return accessFlags(AccessFlag.grantedBy("queue pair", value));
    }

    /// Sets the rights of the peer through this queue pair, as a mask of [AccessFlag#bit()].
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

    /// The key that incoming datagrams must carry.
    public int queueKey() {
        return queueKey;
    }

    /// Sets the key that incoming datagrams must carry.
    public QueuePairAttributes queueKey(int value) {
        present.add(QueuePairAttribute.QUEUE_KEY);
        queueKey = value;
        return this;
    }

    /// The path to the peer; null if it was never set.
    public @Nullable AddressVector addressVector() {
        return addressVector;
    }

    /// Sets the path to the peer.
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

    /// How long to wait for an acknowledgement before a request is retried.
    public AckTimeout timeout() {
        return timeout;
    }

    /// Sets how long to wait for an acknowledgement before a request is retried.
    public QueuePairAttributes timeout(AckTimeout value) {
        present.add(QueuePairAttribute.TIMEOUT);
        timeout = value;
        return this;
    }

    /// How often an unacknowledged request is retried.
    public int retryCount() {
        return retryCount;
    }

    /// Sets how often an unacknowledged request is retried, 0 to 7.
    public QueuePairAttributes retryCount(int value) {
        present.add(QueuePairAttribute.RETRY_COUNT);
        retryCount = value;
        return this;
    }

    /// How often a message that found no receive is retried; 7 means without limit.
    public int rnrRetry() {
        return rnrRetry;
    }

    /// Sets how often a message that found no receive is retried, 0 to 6, or 7 for no limit.
    public QueuePairAttributes rnrRetry(int value) {
        present.add(QueuePairAttribute.RNR_RETRY);
        rnrRetry = value;
        return this;
    }

    /// The first packet sequence number to expect.
    public int receivePsn() {
        return receivePsn;
    }

    /// Sets the first packet sequence number to expect, 24 bits: the peer's [#sendPsn()].
    public QueuePairAttributes receivePsn(int value) {
        present.add(QueuePairAttribute.RECEIVE_PSN);
        receivePsn = value;
        return this;
    }

    /// The first packet sequence number to send.
    public int sendPsn() {
        return sendPsn;
    }

    /// Sets the first packet sequence number to send, 24 bits.
    public QueuePairAttributes sendPsn(int value) {
        present.add(QueuePairAttribute.SEND_PSN);
        sendPsn = value;
        return this;
    }

    /// The number of READs and atomics that this side may have in flight.
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /// Sets how many READs and atomics this side may have in flight.
    public QueuePairAttributes maxReadAtomic(int value) {
        present.add(QueuePairAttribute.MAX_READ_ATOMIC);
        maxReadAtomic = value;
        return this;
    }

    /// The number of READs and atomics that the peer may have in flight.
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /// Sets how many READs and atomics the peer may have in flight.
    public QueuePairAttributes maxDestinationReadAtomic(int value) {
        present.add(QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC);
        maxDestinationReadAtomic = value;
        return this;
    }

    /// How long the peer waits before it retries a message that found no receive here.
    public RnrTimer minRnrTimer() {
        return minRnrTimer;
    }

    /// Sets how long the peer waits before it retries a message that found no receive here.
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

    /// The sizes of its queues; only a query reports them.
    public QueueSizes sizes() {
        return sizes;
    }

    /// Sets the sizes of its queues. For providers: no transition can change them.
    public QueuePairAttributes sizes(QueueSizes value) {
        present.add(QueuePairAttribute.CAPACITY);
        sizes = value;
        return this;
    }

    /// Whether the queue pair is in SEND_QUEUE_DRAIN and earlier sends are not complete yet; only a query
    /// reports it.
    public boolean draining() {
        return draining;
    }

    /// Sets whether sends are not complete yet. For providers: no transition can change it.
    public QueuePairAttributes draining(boolean value) {
        draining = value;
        return this;
    }

    /// Makes all attributes absent.
    void clear() {
        present.clear();
    }

    /// The attributes that were set, with their values.
    @Override
    public String toString() {
        return present.stream().map(each -> each + "=" + value(each)).collect(Collectors.joining(", ", "{", "}"));
    }

    private @Nullable Object value(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> state;
            case CURRENT_STATE -> currentState;
            case DRAIN_NOTIFICATION -> drainNotification;
            case ACCESS_FLAGS -> AccessFlag.of(accessFlags);
            case PARTITION_KEY_INDEX -> partitionKeyIndex;
            case PORT -> port;
            case QUEUE_KEY -> hex(queueKey);
            case ADDRESS_VECTOR -> addressVector;
            case PATH_MTU -> pathMtu;
            case TIMEOUT -> timeout;
            case RETRY_COUNT -> retryCount;
            case RNR_RETRY -> rnrRetry;
            case RECEIVE_PSN -> hex(receivePsn);
            case SEND_PSN -> hex(sendPsn);
            case MAX_READ_ATOMIC -> maxReadAtomic;
            case MAX_DESTINATION_READ_ATOMIC -> maxDestinationReadAtomic;
            case MIN_RNR_TIMER -> minRnrTimer;
            case DESTINATION_NUMBER -> hex(destinationNumber);
            case CAPACITY -> sizes;
            case ALTERNATE_PATH, PATH_MIGRATION -> "?";
        };
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    /// Sets everything that `change` has set, except the assumed state.
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
                case CAPACITY -> sizes(change.sizes);
                case ALTERNATE_PATH, PATH_MIGRATION -> present.add(attribute);
            }
        }
    }
}
