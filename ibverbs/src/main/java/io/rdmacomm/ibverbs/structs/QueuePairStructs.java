package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairAttributesLayout;
import io.rdmacomm.ibverbs.ffm.QueuePairLayout;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.lang.foreign.MemorySegment;

/// The structs that create and change a queue pair.
public final class QueuePairStructs {
    private static final int CAPACITY_BYTES = 20;
    private static final QueueSizes NO_SIZES = new QueueSizes(0, 0, 0, 0, 0);

    private QueuePairStructs() {}

    /// Fills a zeroed `struct ibv_qp_init_attr`. The handles of queues are the addresses of their structs.
    public static void writeInit(QueuePairRequest request, MemorySegment into) {
        QueueSizes sizes = request.sizes();
        SharedReceiveQueueDriver receives = request.sharedReceives();
        boolean shared = receives != null;
        into.set(
                JAVA_LONG,
                QueuePairLayout.INIT_SEND_COMPLETIONS,
                request.sendCompletions().handle());
        into.set(
                JAVA_LONG,
                QueuePairLayout.INIT_RECEIVE_COMPLETIONS,
                request.receiveCompletions().handle());
        into.set(JAVA_LONG, QueuePairLayout.INIT_SHARED_RECEIVES, receives == null ? 0 : receives.handle());
        into.set(JAVA_INT, QueuePairLayout.INIT_SENDS, sizes.sends());
        into.set(JAVA_INT, QueuePairLayout.INIT_RECEIVES, shared ? 0 : sizes.receives());
        into.set(JAVA_INT, QueuePairLayout.INIT_SEND_ELEMENTS, sizes.sendElements());
        into.set(JAVA_INT, QueuePairLayout.INIT_RECEIVE_ELEMENTS, shared ? 0 : sizes.receiveElements());
        into.set(JAVA_INT, QueuePairLayout.INIT_INLINE, sizes.inlineBytes());
        into.set(JAVA_INT, QueuePairLayout.INIT_TYPE, request.type().code());
        into.set(JAVA_INT, QueuePairLayout.INIT_SIGNAL_ALL, request.signalAll() ? 1 : 0);
    }

    /// The sizes that the device granted, within the limits of [QueueSizes].
    public static QueueSizes readSizes(MemorySegment init) {
        return readCapacity(init.asSlice(QueuePairLayout.INIT_SENDS, CAPACITY_BYTES));
    }

    /// Reads a `struct ibv_qp_cap`.
    private static QueueSizes readCapacity(MemorySegment capacity) {
        return new QueueSizes(
                clamp(capacity.get(JAVA_INT, 0), 1 << 20),
                clamp(capacity.get(JAVA_INT, 4), 1 << 20),
                clamp(capacity.get(JAVA_INT, 8), 256),
                clamp(capacity.get(JAVA_INT, 12), 256),
                clamp(capacity.get(JAVA_INT, 16), 1 << 16));
    }

    private static int clamp(int unsigned, int max) {
        return unsigned < 0 ? max : Math.min(unsigned, max);
    }

    /// Fills a zeroed `struct ibv_qp_attr` with what `change` sets.
    ///
    /// @return the mask for ibv_modify_qp(3)
    public static int writeChange(QueuePairAttributes change, MemorySegment into) {
        int mask = 0;
        for (QueuePairAttribute attribute : change.present()) {
            mask |= attribute.bit();
            switch (attribute) {
                case STATE ->
                    into.set(
                            JAVA_INT,
                            QueuePairAttributesLayout.STATE,
                            change.state().code());
                case CURRENT_STATE ->
                    into.set(
                            JAVA_INT,
                            QueuePairAttributesLayout.CURRENT_STATE,
                            change.currentState().code());
                case DRAIN_NOTIFICATION ->
                    setByte(into, QueuePairAttributesLayout.DRAIN_NOTIFICATION, change.drainNotification() ? 1 : 0);
                case ACCESS_FLAGS -> into.set(JAVA_INT, QueuePairAttributesLayout.ACCESS_FLAGS, change.accessFlags());
                case PARTITION_KEY_INDEX ->
                    into.set(JAVA_SHORT, QueuePairAttributesLayout.PARTITION_KEY_INDEX, (short)
                            change.partitionKeyIndex());
                case PORT -> setByte(into, QueuePairAttributesLayout.PORT, change.port());
                case QUEUE_KEY -> into.set(JAVA_INT, QueuePairAttributesLayout.QUEUE_KEY, change.queueKey());
                case ADDRESS_VECTOR -> {
                    AddressVector vector = change.addressVector();
                    if (vector != null) {
                        AddressVectors.write(vector, into, QueuePairAttributesLayout.ADDRESS_VECTOR);
                    }
                }
                case PATH_MTU ->
                    into.set(
                            JAVA_INT,
                            QueuePairAttributesLayout.PATH_MTU,
                            change.pathMtu().code());
                case TIMEOUT ->
                    setByte(
                            into,
                            QueuePairAttributesLayout.TIMEOUT,
                            change.timeout().code());
                case RETRY_COUNT -> setByte(into, QueuePairAttributesLayout.RETRY_COUNT, change.retryCount());
                case RNR_RETRY -> setByte(into, QueuePairAttributesLayout.RNR_RETRY, change.rnrRetry());
                case RECEIVE_PSN -> into.set(JAVA_INT, QueuePairAttributesLayout.RECEIVE_PSN, change.receivePsn());
                case SEND_PSN -> into.set(JAVA_INT, QueuePairAttributesLayout.SEND_PSN, change.sendPsn());
                case MAX_READ_ATOMIC ->
                    setByte(into, QueuePairAttributesLayout.MAX_READ_ATOMIC, change.maxReadAtomic());
                case MAX_DESTINATION_READ_ATOMIC ->
                    setByte(
                            into,
                            QueuePairAttributesLayout.MAX_DESTINATION_READ_ATOMIC,
                            change.maxDestinationReadAtomic());
                case MIN_RNR_TIMER ->
                    setByte(
                            into,
                            QueuePairAttributesLayout.MIN_RNR_TIMER,
                            change.minRnrTimer().code());
                case DESTINATION_NUMBER ->
                    into.set(JAVA_INT, QueuePairAttributesLayout.DESTINATION_NUMBER, change.destinationNumber());
                // Programs cannot set these.
                case ALTERNATE_PATH, PATH_MIGRATION, CAPACITY -> mask &= ~attribute.bit();
            }
        }
        return mask;
    }

    /// Reads the attributes in `mask` from a `struct ibv_qp_attr`, except the state, which the caller knows.
    ///
    /// @param mask that of ibv_modify_qp(3); unknown bits are ignored
    public static QueuePairAttributes readChange(int mask, MemorySegment from) {
        QueuePairAttributes change = new QueuePairAttributes();
        for (QueuePairAttribute attribute : QueuePairAttribute.values()) {
            if ((mask & attribute.bit()) != 0) {
                read(attribute, from, change);
            }
        }
        return change;
    }

    /// The mask that makes ibv_query_qp(3) return the attributes that are present in `known`. Some drivers reject
    /// others (efa).
    public static int mask(QueuePairAttributes known) {
        int mask = 0;
        for (QueuePairAttribute attribute : known.present()) {
            mask |= attribute.bit();
        }
        return mask;
    }

    /// Reads the result of ibv_query_qp(3). A path without a port and sizes of zero are ignored: the driver has not
    /// filled them in.
    ///
    /// @param from a `struct ibv_qp_attr`
    /// @param known its present attributes are replaced
    /// @return false if the driver reports no state
    public static boolean readQuery(MemorySegment from, QueuePairAttributes known) {
        int code = from.get(JAVA_INT, QueuePairAttributesLayout.STATE);
        QueuePairState[] states = QueuePairState.values();
        if (code < 0 || code >= states.length) {
            return false;
        }
        for (QueuePairAttribute attribute : known.present()) {
            read(attribute, from, known);
        }
        known.state(states[code]).draining(getByte(from, QueuePairAttributesLayout.DRAINING) != 0);
        return true;
    }

    private static void read(QueuePairAttribute attribute, MemorySegment from, QueuePairAttributes into) {
        switch (attribute) {
            case DRAIN_NOTIFICATION ->
                into.drainNotification(getByte(from, QueuePairAttributesLayout.DRAIN_NOTIFICATION) != 0);
            case ACCESS_FLAGS -> into.accessFlags(from.get(JAVA_INT, QueuePairAttributesLayout.ACCESS_FLAGS));
            case PARTITION_KEY_INDEX ->
                into.partitionKeyIndex(
                        Short.toUnsignedInt(from.get(JAVA_SHORT, QueuePairAttributesLayout.PARTITION_KEY_INDEX)));
            case PORT -> into.port(getByte(from, QueuePairAttributesLayout.PORT));
            case QUEUE_KEY -> into.queueKey(from.get(JAVA_INT, QueuePairAttributesLayout.QUEUE_KEY));
            case ADDRESS_VECTOR -> readAddressVector(from, into);
            case PATH_MTU -> into.pathMtu(IbvAttributes.mtu(from.get(JAVA_INT, QueuePairAttributesLayout.PATH_MTU)));
            case TIMEOUT -> into.timeout(new AckTimeout(getByte(from, QueuePairAttributesLayout.TIMEOUT) & 31));
            case RETRY_COUNT -> into.retryCount(getByte(from, QueuePairAttributesLayout.RETRY_COUNT));
            case RNR_RETRY -> into.rnrRetry(getByte(from, QueuePairAttributesLayout.RNR_RETRY));
            case RECEIVE_PSN -> into.receivePsn(from.get(JAVA_INT, QueuePairAttributesLayout.RECEIVE_PSN));
            case SEND_PSN -> into.sendPsn(from.get(JAVA_INT, QueuePairAttributesLayout.SEND_PSN));
            case MAX_READ_ATOMIC -> into.maxReadAtomic(getByte(from, QueuePairAttributesLayout.MAX_READ_ATOMIC));
            case MAX_DESTINATION_READ_ATOMIC ->
                into.maxDestinationReadAtomic(getByte(from, QueuePairAttributesLayout.MAX_DESTINATION_READ_ATOMIC));
            case MIN_RNR_TIMER ->
                into.minRnrTimer(new RnrTimer(getByte(from, QueuePairAttributesLayout.MIN_RNR_TIMER) & 31));
            case DESTINATION_NUMBER ->
                into.destinationNumber(from.get(JAVA_INT, QueuePairAttributesLayout.DESTINATION_NUMBER));
            case CAPACITY -> readSizes(from, into);
            case STATE, CURRENT_STATE, ALTERNATE_PATH, PATH_MIGRATION -> {}
        }
    }

    private static void readAddressVector(MemorySegment from, QueuePairAttributes into) {
        MemorySegment vector = from.asSlice(QueuePairAttributesLayout.ADDRESS_VECTOR, AddressVectorLayout.BYTES);
        if (getByte(vector, AddressVectorLayout.PORT) != 0) {
            into.addressVector(AddressVectors.read(vector));
        }
    }

    private static void readSizes(MemorySegment from, QueuePairAttributes into) {
        QueueSizes sizes = readCapacity(from.asSlice(QueuePairAttributesLayout.CAPACITY, CAPACITY_BYTES));
        if (!sizes.equals(NO_SIZES)) {
            into.sizes(sizes);
        }
    }

    private static int getByte(MemorySegment from, long offset) {
        return Byte.toUnsignedInt(from.get(JAVA_BYTE, offset));
    }

    private static void setByte(MemorySegment into, long offset, int value) {
        into.set(JAVA_BYTE, offset, (byte) value);
    }
}
