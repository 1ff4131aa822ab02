package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.ibverbs.ffm.ExtendedOps;
import io.rdmacomm.ibverbs.ffm.LibCLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.PortAttributesLayout;
import io.rdmacomm.ibverbs.structs.IbvAttributes;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.PortValues;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Asks an open device for its attributes, ports and tables. Thread-safe.
public final class DeviceQueries {
    private static final ValueLayout.OfShort BIG_ENDIAN_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private final LibIbverbs library;
    private final ExtendedOps extended;
    private final long address;
    private final String subject;

    /// @param address the address of the `struct ibv_context`
    /// @param subject the name of the device in messages
    public DeviceQueries(LibIbverbs library, long address, String subject) {
        this.library = library;
        this.extended = new ExtendedOps(address);
        this.address = address;
        this.subject = subject;
    }

    /// ibv_query_device_ex(3), or ibv_query_device(3) on older systems.
    public DeviceValues device() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(DeviceAttributesLayout.EXTENDED_BYTES, 8);
            int errno = extended.queryDevice(struct.address());
            boolean legacy = errno == LibCLayout.EOPNOTSUPP || errno == LibCLayout.ENOSYS;
            if (legacy) {
                errno = library.queryDevice(address, struct.address());
            }
            IbvFailure.check("query device (ibv_query_device" + (legacy ? ")" : "_ex)"), errno, subject);
            int vectors = NativeMemory.at(address, ContextLayout.BYTES).get(JAVA_INT, ContextLayout.COMPLETION_VECTORS);
            return IbvAttributes.device(struct, vectors, !legacy);
        }
    }

    /// ibv_query_port(3).
    PortValues port(int number) {
        String operation = "query port (ibv_query_port)";
        String missing = subject + " has no port " + number;
        IbvFailure.checkByte(operation, number, missing);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(PortAttributesLayout.ROOM, 8);
            int errno = extended.queryPort(number, struct.address());
            if (errno == LibCLayout.EOPNOTSUPP) {
                errno = library.queryPort(address, number, struct.address());
            }
            IbvFailure.check(operation, errno, missing);
            return IbvAttributes.port(struct);
        }
    }

    /// ibv_query_gid(3).
    Gid gid(int port, int index) {
        String operation = "query GID (ibv_query_gid)";
        String missing = noEntry(port, index);
        IbvFailure.checkByte(operation, port, missing);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(PortAttributesLayout.GID_BYTES, 8);
            IbvFailure.check(operation, library.queryGid(address, port, index, gid.address()), missing);
            return IbvAttributes.gid(gid, 0);
        }
    }

    /// The GIDs of a port (ibv_query_gid_table(3)); null if the library or the kernel is too old for the call.
    @Nullable
    List<GidEntry> gidTable(int port) {
        int room = port(port).gidTableLength * device().ports;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(Math.max(1L, room) * PortAttributesLayout.GID_ENTRY_BYTES, 8);
            long count = library.queryGidTable(address, entries.address(), room);
            if (count == -LibCLayout.EOPNOTSUPP) {
                return null;
            }
            IbvFailure.check(
                    "query GID table (_ibv_query_gid_table)",
                    (int) -Math.min(0, count),
                    subject + " has no table for port " + port);
            return IbvAttributes.gids(entries, (int) count, port);
        }
    }

    /// ibv_query_pkey(3).
    int partitionKey(int port, int index) {
        String operation = "query partition key (ibv_query_pkey)";
        String missing = noEntry(port, index);
        IbvFailure.checkByte(operation, port, missing);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocate(Short.BYTES, 8);
            IbvFailure.check(operation, library.queryPartitionKey(address, port, index, key.address()), missing);
            return Short.toUnsignedInt(key.get(BIG_ENDIAN_SHORT, 0));
        }
    }

    private String noEntry(int port, int index) {
        return subject + " has no entry " + index + " of port " + port;
    }
}
