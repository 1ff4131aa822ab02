package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.ConnectionEventLayout;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongToIntFunction;

/// A `struct rdma_conn_param` (rdma_connect(3), rdma_accept(3)).
final class ParameterStruct {
    private ParameterStruct() {}

    /// Calls C with the address of a struct for a connection.
    static int ofConnection(
            ConnectionParameters parameters,
            QueuePair queuePair,
            int responderResources,
            int initiatorDepth,
            LongToIntFunction function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = filled(parameters.privateData(), queuePair.number(), arena);
            setByte(struct, ConnectionEventLayout.RESPONDER_RESOURCES, responderResources);
            setByte(struct, ConnectionEventLayout.INITIATOR_DEPTH, initiatorDepth);
            setByte(struct, ConnectionEventLayout.RETRY_COUNT, parameters.retryCount());
            setByte(struct, ConnectionEventLayout.RNR_RETRY, parameters.rnrRetry());
            boolean shared = queuePair.options().sharedReceives() != null;
            setByte(struct, ConnectionEventLayout.SHARED_RECEIVES, shared ? 1 : 0);
            return function.applyAsInt(struct.address());
        }
    }

    /// Calls C with the address of a struct for datagrams, whose other fields have no effect.
    ///
    /// @param queuePairNumber of an answer; a request names none
    static int ofDatagrams(byte[] privateData, int queuePairNumber, LongToIntFunction function) {
        try (Arena arena = Arena.ofConfined()) {
            return function.applyAsInt(
                    filled(privateData, queuePairNumber, arena).address());
        }
    }

    private static MemorySegment filled(byte[] privateData, int queuePairNumber, Arena arena) {
        MemorySegment struct = arena.allocate(ConnectionEventLayout.PARAMETERS_BYTES, 8);
        if (privateData.length > 0) {
            long data = arena.allocateFrom(JAVA_BYTE, privateData).address();
            struct.set(JAVA_LONG, ConnectionEventLayout.PRIVATE_DATA, data);
        }
        setByte(struct, ConnectionEventLayout.PRIVATE_DATA_LENGTH, privateData.length);
        struct.set(JAVA_INT, ConnectionEventLayout.QUEUE_PAIR_NUMBER, queuePairNumber);
        return struct;
    }

    private static void setByte(MemorySegment struct, int offset, int value) {
        struct.set(JAVA_BYTE, offset, (byte) value);
    }
}
