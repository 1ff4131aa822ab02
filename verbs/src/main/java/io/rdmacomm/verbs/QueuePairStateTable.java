package io.rdmacomm.verbs;

import static io.rdmacomm.verbs.QueuePairAttribute.ACCESS_FLAGS;
import static io.rdmacomm.verbs.QueuePairAttribute.ADDRESS_VECTOR;
import static io.rdmacomm.verbs.QueuePairAttribute.ALTERNATE_PATH;
import static io.rdmacomm.verbs.QueuePairAttribute.CURRENT_STATE;
import static io.rdmacomm.verbs.QueuePairAttribute.DESTINATION_NUMBER;
import static io.rdmacomm.verbs.QueuePairAttribute.DRAIN_NOTIFICATION;
import static io.rdmacomm.verbs.QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC;
import static io.rdmacomm.verbs.QueuePairAttribute.MAX_READ_ATOMIC;
import static io.rdmacomm.verbs.QueuePairAttribute.MIN_RNR_TIMER;
import static io.rdmacomm.verbs.QueuePairAttribute.PARTITION_KEY_INDEX;
import static io.rdmacomm.verbs.QueuePairAttribute.PATH_MIGRATION;
import static io.rdmacomm.verbs.QueuePairAttribute.PATH_MTU;
import static io.rdmacomm.verbs.QueuePairAttribute.PORT;
import static io.rdmacomm.verbs.QueuePairAttribute.QUEUE_KEY;
import static io.rdmacomm.verbs.QueuePairAttribute.RECEIVE_PSN;
import static io.rdmacomm.verbs.QueuePairAttribute.RETRY_COUNT;
import static io.rdmacomm.verbs.QueuePairAttribute.RNR_RETRY;
import static io.rdmacomm.verbs.QueuePairAttribute.SEND_PSN;
import static io.rdmacomm.verbs.QueuePairAttribute.STATE;
import static io.rdmacomm.verbs.QueuePairAttribute.TIMEOUT;
import static io.rdmacomm.verbs.QueuePairState.ERROR;
import static io.rdmacomm.verbs.QueuePairState.INIT;
import static io.rdmacomm.verbs.QueuePairState.READY_TO_RECEIVE;
import static io.rdmacomm.verbs.QueuePairState.READY_TO_SEND;
import static io.rdmacomm.verbs.QueuePairState.RESET;
import static io.rdmacomm.verbs.QueuePairState.SEND_QUEUE_DRAIN;
import static io.rdmacomm.verbs.QueuePairState.SEND_QUEUE_ERROR;
import static io.rdmacomm.verbs.QueuePairType.RELIABLE_CONNECTED;
import static io.rdmacomm.verbs.QueuePairType.UNRELIABLE_CONNECTED;
import static io.rdmacomm.verbs.QueuePairType.UNRELIABLE_DATAGRAM;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The allowed state transitions of a queue pair and their attributes (Linux' `qp_state_table`; ibv_modify_qp(3)).
///
/// A transition must be in the table, set every required attribute, and set only required and optional ones.
/// Otherwise it fails with EINVAL and changes nothing.
final class QueuePairStateTable {
    private record Transition(EnumSet<QueuePairAttribute> required, EnumSet<QueuePairAttribute> optional) {}

    private static final Map<QueuePairType, Map<QueuePairState, Map<QueuePairState, Transition>>> TABLE =
            new EnumMap<>(QueuePairType.class);

    static {
        connected(RELIABLE_CONNECTED);
        connected(UNRELIABLE_CONNECTED);
        datagram();
        for (QueuePairType type : QueuePairType.values()) {
            for (QueuePairState from : QueuePairState.values()) {
                if (from != RESET) {
                    row(type, from, RESET, none(), none());
                    row(type, from, ERROR, none(), none());
                }
            }
            row(type, RESET, RESET, none(), none());
        }
    }

    private QueuePairStateTable() {}

    /// Throws [QueuePairStateException] unless `change` is allowed in state `current`.
    static void check(String queuePair, QueuePairType type, QueuePairState current, QueuePairAttributes change) {
        QueuePairState from = change.has(CURRENT_STATE) ? change.currentState() : current;
        QueuePairState to = change.has(STATE) ? change.state() : from;
        String attempt = queuePair + " " + from + " -> " + to;
        if (from != current) {
            throw refused(current, to, none(), EnumSet.of(CURRENT_STATE), attempt + ": it is in state " + current);
        }
        Transition transition = find(type, from, to);
        if (transition == null) {
            throw refused(from, to, none(), none(), attempt + ": there is no such transition for " + type);
        }
        EnumSet<QueuePairAttribute> missing = EnumSet.copyOf(transition.required());
        missing.removeAll(change.present());
        EnumSet<QueuePairAttribute> forbidden = none();
        forbidden.addAll(change.present());
        forbidden.removeAll(transition.required());
        forbidden.removeAll(transition.optional());
        forbidden.remove(STATE);
        if (!missing.isEmpty() || !forbidden.isEmpty()) {
            throw refused(from, to, missing, forbidden, attempt + ": " + describe(missing, forbidden));
        }
        checkValues(from, to, attempt, change);
    }

    /// Limits of every device (rxe's `rxe_qp_chk_attr` checks the same).
    private static void checkValues(
            QueuePairState from, QueuePairState to, String attempt, QueuePairAttributes change) {
        List<String> wrong = new ArrayList<>();
        range(wrong, change, RETRY_COUNT, change.retryCount(), 7);
        range(wrong, change, RNR_RETRY, change.rnrRetry(), 7);
        range(wrong, change, SEND_PSN, change.sendPsn(), 0xffffff);
        range(wrong, change, RECEIVE_PSN, change.receivePsn(), 0xffffff);
        range(wrong, change, DESTINATION_NUMBER, change.destinationNumber(), 0xffffff);
        range(wrong, change, MAX_READ_ATOMIC, change.maxReadAtomic(), 255);
        range(wrong, change, MAX_DESTINATION_READ_ATOMIC, change.maxDestinationReadAtomic(), 255);
        if (!wrong.isEmpty()) {
            throw refused(from, to, none(), none(), attempt + ": " + String.join(", ", wrong));
        }
    }

    private static void range(
            List<String> wrong, QueuePairAttributes change, QueuePairAttribute attribute, int value, int max) {
        if (change.has(attribute) && (value < 0 || value > max)) {
            wrong.add(attribute + " is " + value + ", must be 0 to " + max);
        }
    }

    private static String describe(EnumSet<QueuePairAttribute> missing, EnumSet<QueuePairAttribute> forbidden) {
        StringBuilder text = new StringBuilder();
        if (!missing.isEmpty()) {
            text.append("missing ").append(missing);
        }
        if (!forbidden.isEmpty()) {
            text.append(missing.isEmpty() ? "" : ", ").append("must not set ").append(forbidden);
        }
        return text.toString();
    }

    private static QueuePairStateException refused(
            QueuePairState from,
            QueuePairState to,
            EnumSet<QueuePairAttribute> missing,
            EnumSet<QueuePairAttribute> forbidden,
            String detail) {
        return new QueuePairStateException(from, to, missing, forbidden, detail);
    }

    private static @Nullable Transition find(QueuePairType type, QueuePairState from, QueuePairState to) {
        Map<QueuePairState, Map<QueuePairState, Transition>> ofType = TABLE.get(type);
        Map<QueuePairState, Transition> ofState = ofType == null ? null : ofType.get(from);
        return ofState == null ? null : ofState.get(to);
    }

    private static void connected(QueuePairType type) {
        boolean reliable = type == RELIABLE_CONNECTED;
        EnumSet<QueuePairAttribute> init = EnumSet.of(PARTITION_KEY_INDEX, PORT, ACCESS_FLAGS);
        row(type, RESET, INIT, init, none());
        row(type, INIT, INIT, none(), init);
        EnumSet<QueuePairAttribute> receive = EnumSet.of(ADDRESS_VECTOR, PATH_MTU, DESTINATION_NUMBER, RECEIVE_PSN);
        EnumSet<QueuePairAttribute> send = EnumSet.of(SEND_PSN);
        EnumSet<QueuePairAttribute> operate = EnumSet.of(CURRENT_STATE, ALTERNATE_PATH, ACCESS_FLAGS, PATH_MIGRATION);
        EnumSet<QueuePairAttribute> drained =
                EnumSet.of(ADDRESS_VECTOR, ALTERNATE_PATH, ACCESS_FLAGS, PARTITION_KEY_INDEX, PATH_MIGRATION);
        if (reliable) {
            receive.addAll(EnumSet.of(MAX_DESTINATION_READ_ATOMIC, MIN_RNR_TIMER));
            send.addAll(EnumSet.of(TIMEOUT, RETRY_COUNT, RNR_RETRY, MAX_READ_ATOMIC));
            operate.add(MIN_RNR_TIMER);
            drained.addAll(EnumSet.of(
                    PORT,
                    TIMEOUT,
                    RETRY_COUNT,
                    RNR_RETRY,
                    MAX_READ_ATOMIC,
                    MAX_DESTINATION_READ_ATOMIC,
                    MIN_RNR_TIMER));
        } else {
            row(type, SEND_QUEUE_ERROR, READY_TO_SEND, none(), EnumSet.of(CURRENT_STATE, ACCESS_FLAGS));
        }
        row(type, INIT, READY_TO_RECEIVE, receive, EnumSet.of(ALTERNATE_PATH, ACCESS_FLAGS, PARTITION_KEY_INDEX));
        operating(type, send, operate, drained);
    }

    private static void datagram() {
        EnumSet<QueuePairAttribute> init = EnumSet.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY);
        row(UNRELIABLE_DATAGRAM, RESET, INIT, init, none());
        row(UNRELIABLE_DATAGRAM, INIT, INIT, none(), init);
        row(UNRELIABLE_DATAGRAM, INIT, READY_TO_RECEIVE, none(), EnumSet.of(PARTITION_KEY_INDEX, QUEUE_KEY));
        EnumSet<QueuePairAttribute> operate = EnumSet.of(CURRENT_STATE, QUEUE_KEY);
        row(UNRELIABLE_DATAGRAM, SEND_QUEUE_ERROR, READY_TO_SEND, none(), operate);
        operating(UNRELIABLE_DATAGRAM, EnumSet.of(SEND_PSN), operate, EnumSet.of(PARTITION_KEY_INDEX, QUEUE_KEY));
    }

    private static void operating(
            QueuePairType type,
            EnumSet<QueuePairAttribute> send,
            EnumSet<QueuePairAttribute> operate,
            EnumSet<QueuePairAttribute> drained) {
        row(type, READY_TO_RECEIVE, READY_TO_SEND, send, operate);
        row(type, READY_TO_SEND, READY_TO_SEND, none(), operate);
        row(type, READY_TO_SEND, SEND_QUEUE_DRAIN, none(), EnumSet.of(DRAIN_NOTIFICATION));
        row(type, SEND_QUEUE_DRAIN, READY_TO_SEND, none(), operate);
        row(type, SEND_QUEUE_DRAIN, SEND_QUEUE_DRAIN, none(), drained);
    }

    private static void row(
            QueuePairType type,
            QueuePairState from,
            QueuePairState to,
            EnumSet<QueuePairAttribute> required,
            EnumSet<QueuePairAttribute> optional) {
        TABLE.computeIfAbsent(type, key -> new EnumMap<>(QueuePairState.class))
                .computeIfAbsent(from, key -> new EnumMap<>(QueuePairState.class))
                .put(to, new Transition(required, optional));
    }

    private static EnumSet<QueuePairAttribute> none() {
        return EnumSet.noneOf(QueuePairAttribute.class);
    }
}
