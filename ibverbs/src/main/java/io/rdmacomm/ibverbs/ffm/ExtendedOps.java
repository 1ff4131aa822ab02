package io.rdmacomm.ibverbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// The verbs that were added after `struct ibv_context` was full. Their function pointers are before it, in a
/// `struct verbs_context` that ends with the `ibv_context` and grows towards lower addresses. A library older than
/// a verb has a shorter one, and a driver without the verb leaves its pointer empty.
///
/// Control path. Thread-safe.
public final class ExtendedOps {
    /// `__VERBS_ABI_IS_EXTENDED`: there are such function pointers.
    private static final long EXTENDED = -1;

    private final long context;
    private final MemorySegment queryDevice;
    private final MemorySegment queryPort;
    private final MemorySegment modifyCompletionQueue;

    /// Reads the function pointers of an open device.
    ///
    /// @param context the address of its `struct ibv_context`
    public ExtendedOps(long context) {
        this.context = context;
        queryDevice = operation(context, ContextLayout.QUERY_DEVICE_EXTENDED);
        queryPort = operation(context, ContextLayout.QUERY_PORT_EXTENDED);
        modifyCompletionQueue = operation(context, ContextLayout.MODIFY_COMPLETION_QUEUE);
    }

    private static MemorySegment operation(long context, int offset) {
        if (word(context, ContextLayout.ABI).get(JAVA_LONG, 0) != EXTENDED) {
            return MemorySegment.NULL;
        }
        long size = word(context, ContextLayout.EXTENDED_BYTES).get(JAVA_LONG, 0);
        return size < ContextLayout.BYTES - offset
                ? MemorySegment.NULL
                : word(context, offset).get(ADDRESS, 0);
    }

    private static MemorySegment word(long context, int offset) {
        return NativeMemory.at(context + offset, Long.BYTES);
    }

    /// Fills a `struct ibv_device_attr_ex` (ibv_query_device_ex(3)).
    ///
    /// @param attributes room for a `struct ibv_device_attr_ex`
    /// @return 0 or the errno; EOPNOTSUPP or ENOSYS if there is only ibv_query_device(3)
    public int queryDevice(long attributes) {
        return Calls.number(queryDevice, context, 0, attributes, DeviceAttributesLayout.EXTENDED_BYTES);
    }

    /// Fills a whole `struct ibv_port_attr`, as the macro ibv_query_port(3) does in C.
    ///
    /// @param attributes [PortAttributesLayout#ROOM] bytes
    /// @return 0 or the errno; EOPNOTSUPP if there is only the function of that name
    public int queryPort(int port, long attributes) {
        return Calls.number(queryPort, context, port, attributes, PortAttributesLayout.ROOM);
    }

    /// Takes a `struct ibv_modify_cq_attr` (ibv_modify_cq(3)).
    ///
    /// @return 0 or the errno; EOPNOTSUPP if the library or the driver does not have it
    public int modifyCompletionQueue(long queue, long change) {
        return Calls.number(modifyCompletionQueue, queue, change);
    }
}
