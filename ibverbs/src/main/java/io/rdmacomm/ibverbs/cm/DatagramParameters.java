package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.ConnectionEventLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongToIntFunction;

/// The fields of a `struct rdma_conn_param` that count for datagrams (rdma_connect(3), rdma_accept(3)).
final class DatagramParameters {
    private DatagramParameters() {}

    /// Calls C with the address of the struct.
    ///
    /// @param queuePairNumber of an answer; a request names none
    static int with(byte[] privateData, int queuePairNumber, LongToIntFunction function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(ConnectionEventLayout.PARAMETERS_BYTES, 8);
            if (privateData.length > 0) {
                long data = arena.allocateFrom(JAVA_BYTE, privateData).address();
                struct.set(JAVA_LONG, ConnectionEventLayout.PRIVATE_DATA, data);
            }
            struct.set(JAVA_BYTE, ConnectionEventLayout.PRIVATE_DATA_LENGTH, (byte) privateData.length);
            struct.set(JAVA_INT, ConnectionEventLayout.QUEUE_PAIR_NUMBER, queuePairNumber);
            return function.applyAsInt(struct.address());
        }
    }
}
