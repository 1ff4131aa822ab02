package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// The bytes of requests and completions, against the offsets that gdb printed for rdma-core's `verbs.h` (ptype
/// /o, x86-64, the same from version 44 to 64).
class LayoutTest {
    @Test
    void sendRequestsHaveTheOffsetsOfC() {
        Map<String, Integer> offsets = Map.ofEntries(
                Map.entry("wr_id", SendRequestLayout.WORK_ID),
                Map.entry("next", SendRequestLayout.NEXT),
                Map.entry("sg_list", SendRequestLayout.ELEMENTS),
                Map.entry("num_sge", SendRequestLayout.ELEMENT_COUNT),
                Map.entry("opcode", SendRequestLayout.OPCODE),
                Map.entry("send_flags", SendRequestLayout.FLAGS),
                Map.entry("imm_data", SendRequestLayout.IMMEDIATE),
                Map.entry("wr.rdma.remote_addr", SendRequestLayout.REMOTE_ADDRESS),
                Map.entry("wr.rdma.rkey", SendRequestLayout.REMOTE_KEY),
                Map.entry("wr.atomic.compare_add", SendRequestLayout.COMPARE_ADD),
                Map.entry("wr.atomic.swap", SendRequestLayout.SWAP),
                Map.entry("wr.atomic.rkey", SendRequestLayout.ATOMIC_KEY),
                Map.entry("wr.ud.ah", SendRequestLayout.ADDRESS_HANDLE),
                Map.entry("wr.ud.remote_qpn", SendRequestLayout.DESTINATION_NUMBER),
                Map.entry("wr.ud.remote_qkey", SendRequestLayout.DESTINATION_KEY),
                Map.entry("bind_mw.mw", SendRequestLayout.WINDOW),
                Map.entry("bind_mw.rkey", SendRequestLayout.WINDOW_KEY),
                Map.entry("bind_mw.bind_info.mr", SendRequestLayout.WINDOW_REGION),
                Map.entry("bind_mw.bind_info.addr", SendRequestLayout.WINDOW_ADDRESS),
                Map.entry("bind_mw.bind_info.length", SendRequestLayout.WINDOW_LENGTH),
                Map.entry("bind_mw.bind_info.mw_access_flags", SendRequestLayout.WINDOW_ACCESS),
                Map.entry("sizeof", SendRequestLayout.BYTES));
        assertThat(offsets)
                .containsExactlyInAnyOrderEntriesOf(Map.ofEntries(
                        Map.entry("wr_id", 0),
                        Map.entry("next", 8),
                        Map.entry("sg_list", 16),
                        Map.entry("num_sge", 24),
                        Map.entry("opcode", 28),
                        Map.entry("send_flags", 32),
                        Map.entry("imm_data", 36),
                        Map.entry("wr.rdma.remote_addr", 40),
                        Map.entry("wr.rdma.rkey", 48),
                        Map.entry("wr.atomic.compare_add", 48),
                        Map.entry("wr.atomic.swap", 56),
                        Map.entry("wr.atomic.rkey", 64),
                        Map.entry("wr.ud.ah", 40),
                        Map.entry("wr.ud.remote_qpn", 48),
                        Map.entry("wr.ud.remote_qkey", 52),
                        Map.entry("bind_mw.mw", 80),
                        Map.entry("bind_mw.rkey", 88),
                        Map.entry("bind_mw.bind_info.mr", 96),
                        Map.entry("bind_mw.bind_info.addr", 104),
                        Map.entry("bind_mw.bind_info.length", 112),
                        Map.entry("bind_mw.bind_info.mw_access_flags", 120),
                        Map.entry("sizeof", 128)));
    }

    @Test
    void receivesAndElementsHaveTheOffsetsOfC() {
        assertThat(new int[] {
                    ReceiveRequestLayout.WORK_ID,
                    ReceiveRequestLayout.NEXT,
                    ReceiveRequestLayout.ELEMENTS,
                    ReceiveRequestLayout.ELEMENT_COUNT,
                    ReceiveRequestLayout.BYTES
                })
                .containsExactly(0, 8, 16, 24, 32);
        assertThat(new int[] {
                    ReceiveRequestLayout.ELEMENT_ADDRESS,
                    ReceiveRequestLayout.ELEMENT_LENGTH,
                    ReceiveRequestLayout.ELEMENT_KEY,
                    ReceiveRequestLayout.ELEMENT_BYTES
                })
                .containsExactly(0, 8, 12, 16);
    }

    @Test
    void completionsHaveTheOffsetsOfC() {
        assertThat(new int[] {
                    CompletionLayout.WORK_ID,
                    CompletionLayout.STATUS,
                    CompletionLayout.OPCODE,
                    CompletionLayout.VENDOR_ERROR,
                    CompletionLayout.BYTE_LENGTH,
                    CompletionLayout.IMMEDIATE,
                    CompletionLayout.QUEUE_PAIR_NUMBER,
                    CompletionLayout.SOURCE_QUEUE_PAIR,
                    CompletionLayout.FLAGS,
                    CompletionLayout.PARTITION_KEY_INDEX,
                    CompletionLayout.SOURCE_LID,
                    CompletionLayout.SERVICE_LEVEL,
                    CompletionLayout.BYTES
                })
                .containsExactly(0, 8, 12, 16, 20, 24, 28, 32, 36, 40, 42, 44, 48);
        assertThat(CompletionLayout.FLAG_GLOBAL_ROUTE).isEqualTo(1);
        assertThat(CompletionLayout.FLAG_IMMEDIATE).isEqualTo(2);
        assertThat(CompletionLayout.FLAG_INVALIDATED).isEqualTo(8);
    }

    @Test
    void sendFlagsHaveTheBitsOfC() {
        assertThat(SendRequestLayout.FLAG_FENCE).isEqualTo(1);
        assertThat(SendRequestLayout.FLAG_SIGNALED).isEqualTo(2);
        assertThat(SendRequestLayout.FLAG_SOLICITED).isEqualTo(4);
        assertThat(SendRequestLayout.FLAG_INLINE).isEqualTo(8);
    }

    @Test
    void aFilledRequestHasItsFieldsAtTheirOffsetsInC() {
        try (Arena arena = Arena.ofConfined()) {
            SendBatch batch = SendBatch.create(arena, 3, 2);
            batch.writeWithImmediate(7, 0x1122334455667788L, 0xCAFE, 0x01020304)
                    .with(0x4000, 10, 0xAB)
                    .with(0x5000, 0xffff_ffffL, 0xCD)
                    .signaled()
                    .solicited()
                    .fenced();
            batch.compareAndSwap(8, 0x10, 0xBEEF, 1, -2).with(0x6000, 8, 0xEF);
            batch.fetchAndAdd(9, 0x18, 0xBEEF, 5).with(0x6008, 8, 0xEF);
            RequestChain chain = batch.chain();
            MemorySegment bytes = chain.segment();

            assertThat(bytes.get(JAVA_LONG, 0)).isEqualTo(7);
            assertThat(bytes.get(JAVA_LONG, 8)).isEqualTo(bytes.address() + 128);
            assertThat(bytes.get(JAVA_LONG, 16)).isEqualTo(bytes.address() + chain.elementsAt(0));
            assertThat(bytes.get(JAVA_INT, 24)).isEqualTo(2);
            assertThat(bytes.get(JAVA_INT, 28)).isEqualTo(1);
            assertThat(bytes.get(JAVA_INT, 32)).isEqualTo(1 | 2 | 4);
            assertThat(bytes.get(JAVA_INT, 36)).isEqualTo(0x04030201);
            assertThat(bytes.get(JAVA_LONG, 40)).isEqualTo(0x1122334455667788L);
            assertThat(bytes.get(JAVA_INT, 48)).isEqualTo(0xCAFE);
            long elements = chain.elementsAt(0);
            assertThat(bytes.get(JAVA_LONG, elements)).isEqualTo(0x4000);
            assertThat(bytes.get(JAVA_INT, elements + 8)).isEqualTo(10);
            assertThat(bytes.get(JAVA_INT, elements + 12)).isEqualTo(0xAB);
            assertThat(bytes.get(JAVA_LONG, elements + 16)).isEqualTo(0x5000);
            assertThat(bytes.get(JAVA_INT, elements + 24)).isEqualTo(-1);

            assertThat(bytes.get(JAVA_INT, 128 + 28)).isEqualTo(5);
            assertThat(bytes.get(JAVA_LONG, 128 + 48)).isEqualTo(1);
            assertThat(bytes.get(JAVA_LONG, 128 + 56)).isEqualTo(-2);
            assertThat(bytes.get(JAVA_INT, 128 + 64)).isEqualTo(0xBEEF);
            assertThat(bytes.get(JAVA_INT, 256 + 28)).isEqualTo(6);
            assertThat(bytes.get(JAVA_LONG, 256 + 48)).isEqualTo(5);
            assertThat(bytes.get(JAVA_LONG, 256 + 8)).as("the chain ends").isZero();
        }
    }

    @Test
    void opcodesHaveTheNumbersOfC() {
        assertThat(EnumSet.allOf(SendOpcode.class).stream().mapToInt(SendOpcode::code))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1);
        assertThat(EnumSet.allOf(CompletionOpcode.class).stream().mapToInt(CompletionOpcode::code))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 128, 129, -1);
        for (SendOpcode opcode : SendOpcode.values()) {
            assertThat(SendOpcode.of(opcode.code())).isEqualTo(opcode);
        }
        for (CompletionOpcode opcode : CompletionOpcode.values()) {
            assertThat(CompletionOpcode.of(opcode.code())).isEqualTo(opcode);
        }
        assertThat(SendOpcode.of(4711)).isEqualTo(SendOpcode.UNKNOWN);
        assertThat(CompletionOpcode.of(4711)).isEqualTo(CompletionOpcode.UNKNOWN);
    }

    @Test
    void statusesEventsAndErrnosHaveTheNumbersOfC() {
        for (WorkStatus status : WorkStatus.values()) {
            assertThat(WorkStatus.of(status.code())).isEqualTo(status);
        }
        assertThat(EnumSet.allOf(WorkStatus.class).stream()
                        .mapToInt(WorkStatus::code)
                        .toArray())
                .isEqualTo(IntStream.concat(IntStream.range(0, 24), IntStream.of(-1))
                        .toArray());
        assertThat(WorkStatus.of(5)).isEqualTo(WorkStatus.FLUSHED);
        assertThat(WorkStatus.of(12)).isEqualTo(WorkStatus.RETRY_EXCEEDED);
        assertThat(WorkStatus.of(99)).isEqualTo(WorkStatus.UNKNOWN);
        for (AsyncEventType type : AsyncEventType.values()) {
            assertThat(AsyncEventType.of(type.code())).isEqualTo(type);
        }
        assertThat(AsyncEventType.of(16)).isEqualTo(AsyncEventType.QUEUE_PAIR_LAST_WORK_REACHED);
        assertThat(AsyncEventType.of(20)).isEqualTo(AsyncEventType.UNKNOWN);
        assertThat(Errno.of(12)).isEqualTo(Errno.ENOMEM);
        assertThat(Errno.of(131)).isEqualTo(Errno.UNKNOWN);
    }

    @Test
    void statesTypesRightsAndAttributesHaveTheNumbersOfC() {
        assertThat(EnumSet.allOf(QueuePairState.class).stream().mapToInt(QueuePairState::code))
                .containsExactly(0, 1, 2, 3, 4, 5, 6);
        assertThat(EnumSet.allOf(QueuePairType.class).stream().mapToInt(QueuePairType::code))
                .containsExactly(2, 3, 4);
        assertThat(EnumSet.allOf(PathMtu.class).stream().mapToInt(PathMtu::code))
                .containsExactly(1, 2, 3, 4, 5);
        assertThat(EnumSet.allOf(AccessFlag.class).stream().mapToInt(AccessFlag::bit))
                .as("those of C, and DIRECT_VIEW")
                .containsExactly(1, 2, 4, 8, 16, 32, 64, 1 << 20, 1 << 29);
        assertThat(EnumSet.allOf(QueuePairAttribute.class).stream()
                        .mapToInt(QueuePairAttribute::bit)
                        .toArray())
                .isEqualTo(IntStream.range(0, 21).map(bit -> 1 << bit).toArray());
        assertThat(QueuePairAttribute.DESTINATION_NUMBER.bit()).isEqualTo(1 << 20);
        assertThat(AccessFlag.of(AccessFlag.mask(AccessFlag.allRemote()) | 1 << 28))
                .isEqualTo(AccessFlag.allRemote());
    }
}
