package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.verbs.AddressVector;
import java.lang.foreign.MemorySegment;

/// Writes the way to a peer as C reads it.
final class AddressVectors {
    private AddressVectors() {}

    /// Fills the zeroed `struct ibv_ah_attr` that begins at `at`.
    static void write(AddressVector vector, MemorySegment into, long at) {
        MemorySegment struct = into.asSlice(at, AddressVectorLayout.BYTES);
        byte[] gid = vector.destinationGid().bytes();
        MemorySegment.copy(gid, 0, struct, JAVA_BYTE, AddressVectorLayout.DESTINATION_GID, gid.length);
        struct.set(JAVA_INT, AddressVectorLayout.FLOW_LABEL, vector.flowLabel());
        struct.set(JAVA_BYTE, AddressVectorLayout.SOURCE_GID_INDEX, (byte) vector.sourceGidIndex());
        struct.set(JAVA_BYTE, AddressVectorLayout.HOP_LIMIT, (byte) vector.hopLimit());
        struct.set(JAVA_BYTE, AddressVectorLayout.TRAFFIC_CLASS, (byte) vector.trafficClass());
        struct.set(JAVA_SHORT, AddressVectorLayout.DESTINATION_LID, (short) vector.destinationLid());
        struct.set(JAVA_BYTE, AddressVectorLayout.SERVICE_LEVEL, (byte) vector.serviceLevel());
        struct.set(JAVA_BYTE, AddressVectorLayout.IS_GLOBAL, (byte) (vector.isGlobal() ? 1 : 0));
        struct.set(JAVA_BYTE, AddressVectorLayout.PORT, (byte) vector.port());
    }
}
