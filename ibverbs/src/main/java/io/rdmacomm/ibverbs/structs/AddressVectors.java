package io.rdmacomm.ibverbs.structs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Writes and reads the path to a peer (`struct ibv_ah_attr`).
public final class AddressVectors {
    private static final ValueLayout.OfLong NETWORK_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int FLOW_LABEL_BITS = 0xfffff;

    private AddressVectors() {}

    /// Fills the zeroed `struct ibv_ah_attr` that begins at `at`.
    public static void write(AddressVector vector, MemorySegment into, long at) {
        MemorySegment struct = into.asSlice(at, AddressVectorLayout.BYTES);
        byte[] gid = vector.destinationGid().bytes();
        MemorySegment.copy(gid, 0, struct, JAVA_BYTE, AddressVectorLayout.DESTINATION_GID, gid.length);
        struct.set(JAVA_INT, AddressVectorLayout.FLOW_LABEL, vector.flowLabel());
        struct.set(JAVA_BYTE, AddressVectorLayout.SOURCE_GID_INDEX, (byte) vector.sourceGidIndex());
        struct.set(JAVA_BYTE, AddressVectorLayout.HOP_LIMIT, (byte) vector.hopLimit());
        struct.set(JAVA_BYTE, AddressVectorLayout.TRAFFIC_CLASS, (byte) vector.trafficClass());
        struct.set(JAVA_SHORT, AddressVectorLayout.DESTINATION_LID, (short) vector.destinationLid());
        struct.set(JAVA_BYTE, AddressVectorLayout.SERVICE_LEVEL, (byte) vector.serviceLevel());
        struct.set(JAVA_BYTE, AddressVectorLayout.SOURCE_PATH_BITS, (byte) vector.sourcePathBits());
        struct.set(JAVA_BYTE, AddressVectorLayout.STATIC_RATE, (byte) vector.staticRate());
        struct.set(JAVA_BYTE, AddressVectorLayout.IS_GLOBAL, (byte) (vector.isGlobal() ? 1 : 0));
        struct.set(JAVA_BYTE, AddressVectorLayout.PORT, (byte) vector.port());
    }

    /// Reads a `struct ibv_ah_attr`.
    public static AddressVector read(MemorySegment struct) {
        boolean global = struct.get(JAVA_BYTE, AddressVectorLayout.IS_GLOBAL) != 0;
        Gid gid = new Gid(
                struct.get(NETWORK_LONG, AddressVectorLayout.DESTINATION_GID),
                struct.get(NETWORK_LONG, AddressVectorLayout.DESTINATION_GID + Long.BYTES));
        return new AddressVector(
                global ? gid : Gid.NONE,
                Short.toUnsignedInt(struct.get(JAVA_SHORT, AddressVectorLayout.DESTINATION_LID)),
                unsigned(struct, AddressVectorLayout.SOURCE_GID_INDEX),
                unsigned(struct, AddressVectorLayout.PORT),
                unsigned(struct, AddressVectorLayout.SERVICE_LEVEL) & 15,
                unsigned(struct, AddressVectorLayout.TRAFFIC_CLASS),
                unsigned(struct, AddressVectorLayout.HOP_LIMIT),
                struct.get(JAVA_INT, AddressVectorLayout.FLOW_LABEL) & FLOW_LABEL_BITS,
                unsigned(struct, AddressVectorLayout.SOURCE_PATH_BITS) & 127,
                unsigned(struct, AddressVectorLayout.STATIC_RATE) & 31);
    }

    private static int unsigned(MemorySegment struct, long offset) {
        return Byte.toUnsignedInt(struct.get(JAVA_BYTE, offset));
    }
}
