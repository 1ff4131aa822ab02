package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every cell of the state table, for every service, compared with a transcription of Linux' `qp_state_table`.
class QueuePairStateTableTest {
    private static final String RELIABLE = """
            RESET INIT = PARTITION_KEY_INDEX PORT ACCESS_FLAGS |
            INIT INIT = | PARTITION_KEY_INDEX PORT ACCESS_FLAGS
            INIT READY_TO_RECEIVE = ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER RECEIVE_PSN \
                MAX_DESTINATION_READ_ATOMIC MIN_RNR_TIMER | ACCESS_FLAGS PARTITION_KEY_INDEX
            READY_TO_RECEIVE READY_TO_SEND = SEND_PSN TIMEOUT RETRY_COUNT RNR_RETRY MAX_READ_ATOMIC \
                | CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER
            READY_TO_SEND READY_TO_SEND = | CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER
            READY_TO_SEND SEND_QUEUE_DRAIN = | DRAIN_NOTIFICATION
            SEND_QUEUE_DRAIN READY_TO_SEND = | CURRENT_STATE ACCESS_FLAGS MIN_RNR_TIMER
            SEND_QUEUE_DRAIN SEND_QUEUE_DRAIN = | PORT ADDRESS_VECTOR TIMEOUT RETRY_COUNT RNR_RETRY MAX_READ_ATOMIC \
                MAX_DESTINATION_READ_ATOMIC ACCESS_FLAGS PARTITION_KEY_INDEX MIN_RNR_TIMER
            """;
    private static final String UNRELIABLE = """
            RESET INIT = PARTITION_KEY_INDEX PORT ACCESS_FLAGS |
            INIT INIT = | PARTITION_KEY_INDEX PORT ACCESS_FLAGS
            INIT READY_TO_RECEIVE = ADDRESS_VECTOR PATH_MTU DESTINATION_NUMBER RECEIVE_PSN \
                | ACCESS_FLAGS PARTITION_KEY_INDEX
            READY_TO_RECEIVE READY_TO_SEND = SEND_PSN | CURRENT_STATE ACCESS_FLAGS
            READY_TO_SEND READY_TO_SEND = | CURRENT_STATE ACCESS_FLAGS
            READY_TO_SEND SEND_QUEUE_DRAIN = | DRAIN_NOTIFICATION
            SEND_QUEUE_DRAIN READY_TO_SEND = | CURRENT_STATE ACCESS_FLAGS
            SEND_QUEUE_DRAIN SEND_QUEUE_DRAIN = | ADDRESS_VECTOR ACCESS_FLAGS PARTITION_KEY_INDEX
            SEND_QUEUE_ERROR READY_TO_SEND = | CURRENT_STATE ACCESS_FLAGS
            """;
    private static final String DATAGRAM = """
            RESET INIT = PARTITION_KEY_INDEX PORT QUEUE_KEY |
            INIT INIT = | PARTITION_KEY_INDEX PORT QUEUE_KEY
            INIT READY_TO_RECEIVE = | PARTITION_KEY_INDEX QUEUE_KEY
            READY_TO_RECEIVE READY_TO_SEND = SEND_PSN | CURRENT_STATE QUEUE_KEY
            READY_TO_SEND READY_TO_SEND = | CURRENT_STATE QUEUE_KEY
            READY_TO_SEND SEND_QUEUE_DRAIN = | DRAIN_NOTIFICATION
            SEND_QUEUE_DRAIN READY_TO_SEND = | CURRENT_STATE QUEUE_KEY
            SEND_QUEUE_DRAIN SEND_QUEUE_DRAIN = | PARTITION_KEY_INDEX QUEUE_KEY
            SEND_QUEUE_ERROR READY_TO_SEND = | CURRENT_STATE QUEUE_KEY
            """;
    private static final String ALL_SERVICES = """
            RESET RESET = |
            INIT RESET = |
            INIT ERROR = |
            READY_TO_RECEIVE RESET = |
            READY_TO_RECEIVE ERROR = |
            READY_TO_SEND RESET = |
            READY_TO_SEND ERROR = |
            SEND_QUEUE_DRAIN RESET = |
            SEND_QUEUE_DRAIN ERROR = |
            SEND_QUEUE_ERROR RESET = |
            SEND_QUEUE_ERROR ERROR = |
            ERROR RESET = |
            ERROR ERROR = |
            """;

    /// Attributes without a setter, and the state itself.
    private static final EnumSet<QueuePairAttribute> NOT_SETTABLE = EnumSet.of(
            QueuePairAttribute.STATE,
            QueuePairAttribute.ALTERNATE_PATH,
            QueuePairAttribute.PATH_MIGRATION,
            QueuePairAttribute.CAPACITY);

    record Cell(
            QueuePairType type,
            QueuePairState from,
            QueuePairState to,
            boolean exists,
            EnumSet<QueuePairAttribute> required,
            EnumSet<QueuePairAttribute> optional) {
        @Override
        public String toString() {
            return type + " " + from + " -> " + to + (exists ? "" : " (does not exist)");
        }

        EnumSet<QueuePairAttribute> forbidden() {
            EnumSet<QueuePairAttribute> forbidden = EnumSet.allOf(QueuePairAttribute.class);
            forbidden.removeAll(NOT_SETTABLE);
            forbidden.removeAll(required);
            forbidden.removeAll(optional);
            return forbidden;
        }
    }

    static Stream<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        for (QueuePairType type : QueuePairType.values()) {
            String table = switch (type) {
                case RELIABLE_CONNECTED -> RELIABLE;
                case UNRELIABLE_CONNECTED -> UNRELIABLE;
                case UNRELIABLE_DATAGRAM -> DATAGRAM;
            };
            for (QueuePairState from : QueuePairState.values()) {
                for (QueuePairState to : QueuePairState.values()) {
                    cells.add(cell(type, from, to, table + ALL_SERVICES));
                }
            }
        }
        return cells.stream();
    }

    private static Cell cell(QueuePairType type, QueuePairState from, QueuePairState to, String table) {
        String start = from + " " + to + " =";
        for (String line : table.lines().toList()) {
            if (line.startsWith(start)) {
                String rest = line.substring(start.length());
                int bar = rest.indexOf('|');
                return new Cell(
                        type, from, to, true, attributes(rest.substring(0, bar)), attributes(rest.substring(bar + 1)));
            }
        }
        return new Cell(type, from, to, false, attributes(""), attributes(""));
    }

    private static EnumSet<QueuePairAttribute> attributes(String names) {
        EnumSet<QueuePairAttribute> set = EnumSet.noneOf(QueuePairAttribute.class);
        names.strip().lines().flatMap(line -> Stream.of(line.split(" +", -1))).forEach(name -> {
            if (!name.isEmpty()) {
                set.add(QueuePairAttribute.valueOf(name));
            }
        });
        return set;
    }

    @ParameterizedTest
    @MethodSource("cells")
    void acceptsExactlyTheRequiredAttributes(Cell cell) {
        QueuePairAttributes change = change(cell, cell.required());
        if (cell.exists()) {
            assertThatCode(() -> check(cell, change)).doesNotThrowAnyException();
        } else {
            QueuePairStateException rejected = rejected(cell, change);
            assertThat(rejected.missing()).isEmpty();
            assertThat(rejected.forbidden()).isEmpty();
            assertThat(rejected).hasMessageContaining("no such transition");
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void namesEachMissingAttribute(Cell cell) {
        for (QueuePairAttribute left : cell.required()) {
            EnumSet<QueuePairAttribute> others = EnumSet.copyOf(cell.required());
            others.remove(left);
            QueuePairStateException rejected = rejected(cell, change(cell, others));
            assertThat(rejected.missing()).containsExactly(left);
            assertThat(rejected.forbidden()).isEmpty();
            assertThat(rejected).hasMessageContaining("missing [" + left + "]");
        }
        if (!cell.required().isEmpty()) {
            assertThat(rejected(cell, change(cell, attributes(""))).missing()).isEqualTo(cell.required());
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void acceptsEachOptionalAttributeAloneAndAllTogether(Cell cell) {
        for (QueuePairAttribute optional : cell.optional()) {
            EnumSet<QueuePairAttribute> set = EnumSet.copyOf(cell.required());
            set.add(optional);
            assertThatCode(() -> check(cell, change(cell, set)))
                    .as("%s", optional)
                    .doesNotThrowAnyException();
        }
        if (cell.exists()) {
            EnumSet<QueuePairAttribute> all = EnumSet.copyOf(cell.required());
            all.addAll(cell.optional());
            assertThatCode(() -> check(cell, change(cell, all))).doesNotThrowAnyException();
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void namesEachForbiddenAttribute(Cell cell) {
        for (QueuePairAttribute forbidden : cell.forbidden()) {
            EnumSet<QueuePairAttribute> set = EnumSet.copyOf(cell.required());
            set.add(forbidden);
            QueuePairStateException rejected = rejected(cell, change(cell, set));
            if (cell.exists()) {
                assertThat(rejected.forbidden()).as("%s", forbidden).containsExactly(forbidden);
                assertThat(rejected.missing()).isEmpty();
                assertThat(rejected).hasMessageContaining("must not set [" + forbidden + "]");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void aChangeWithoutAStateKeepsTheState(Cell cell) {
        if (cell.from() == cell.to() && cell.exists()) {
            QueuePairAttributes change = new QueuePairAttributes();
            cell.required().forEach(attribute -> set(change, attribute, cell.from()));
            assertThatCode(() -> check(cell, change)).doesNotThrowAnyException();
        }
    }

    @Test
    void rejectsAWrongCurrentState() {
        Cell cell = cell(
                QueuePairType.RELIABLE_CONNECTED, QueuePairState.READY_TO_SEND, QueuePairState.READY_TO_SEND, RELIABLE);
        QueuePairAttributes change = new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .currentState(QueuePairState.READY_TO_RECEIVE);
        QueuePairStateException rejected = rejected(cell, change);
        assertThat(rejected.forbidden()).containsExactly(QueuePairAttribute.CURRENT_STATE);
        assertThat(rejected).hasMessageContaining("it is in state READY_TO_SEND");
    }

    @Test
    void rejectsValuesThatNoDeviceAccepts() {
        assertValue(QueuePairAttribute.RETRY_COUNT, new QueuePairAttributes().retryCount(8), "0 to 7");
        assertValue(QueuePairAttribute.RETRY_COUNT, new QueuePairAttributes().retryCount(-1), "0 to 7");
        assertValue(QueuePairAttribute.RNR_RETRY, new QueuePairAttributes().rnrRetry(8), "0 to 7");
        assertValue(QueuePairAttribute.MAX_READ_ATOMIC, new QueuePairAttributes().maxReadAtomic(256), "0 to 255");
    }

    private static void assertValue(QueuePairAttribute attribute, QueuePairAttributes change, String bounds) {
        Cell cell = cell(
                QueuePairType.RELIABLE_CONNECTED,
                QueuePairState.SEND_QUEUE_DRAIN,
                QueuePairState.SEND_QUEUE_DRAIN,
                RELIABLE);
        assertThat(rejected(cell, change.state(QueuePairState.SEND_QUEUE_DRAIN)))
                .hasMessageContaining(attribute + " is ")
                .hasMessageContaining(bounds);
    }

    private static void check(Cell cell, QueuePairAttributes change) {
        QueuePairStateTable.check("queue pair 0x11", cell.type(), cell.from(), change);
    }

    private static QueuePairStateException rejected(Cell cell, QueuePairAttributes change) {
        QueuePairStateException rejected =
                catchThrowableOfType(QueuePairStateException.class, () -> check(cell, change));
        assertThat(rejected).as("%s with %s", cell, change.present()).isNotNull();
        assertThat(rejected.errno()).isEqualTo(Errno.EINVAL);
        assertThat(rejected.from()).isEqualTo(cell.from());
        assertThat(rejected.to()).isEqualTo(cell.to());
        assertThat(rejected)
                .hasMessageContaining("queue pair 0x11")
                .hasMessageContaining(cell.from().name());
        return rejected;
    }

    private static QueuePairAttributes change(Cell cell, EnumSet<QueuePairAttribute> attributes) {
        QueuePairAttributes change = new QueuePairAttributes().state(cell.to());
        attributes.forEach(attribute -> set(change, attribute, cell.from()));
        return change;
    }

    private static void set(QueuePairAttributes change, QueuePairAttribute attribute, QueuePairState current) {
        switch (attribute) {
            case CURRENT_STATE -> change.currentState(current);
            case DRAIN_NOTIFICATION -> change.drainNotification(true);
            case ACCESS_FLAGS -> change.accessFlags(AccessFlag.allRemote());
            case PARTITION_KEY_INDEX -> change.partitionKeyIndex(0);
            case PORT -> change.port(1);
            case QUEUE_KEY -> change.queueKey(17);
            case ADDRESS_VECTOR -> change.addressVector(new AddressVector(Gid.NONE, 1, 0, 1, 0, 0, 1, 0));
            case PATH_MTU -> change.pathMtu(PathMtu.MTU_1024);
            case TIMEOUT -> change.timeout(new AckTimeout(31));
            case RETRY_COUNT -> change.retryCount(7);
            case RNR_RETRY -> change.rnrRetry(7);
            case RECEIVE_PSN -> change.receivePsn(0xffffff);
            case SEND_PSN -> change.sendPsn(0);
            case MAX_READ_ATOMIC -> change.maxReadAtomic(16);
            case MAX_DESTINATION_READ_ATOMIC -> change.maxDestinationReadAtomic(16);
            case MIN_RNR_TIMER -> change.minRnrTimer(new RnrTimer(31));
            case DESTINATION_NUMBER -> change.destinationNumber(0x11);
            case STATE, ALTERNATE_PATH, PATH_MIGRATION, CAPACITY ->
                throw new IllegalArgumentException(attribute.name());
        }
    }
}
