package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// libibverbs, opened by name at run time. Usable from any thread; blocks as long as the C call does.
///
/// Objects are the addresses of their C structs. A method that creates one returns its address or, if it failed,
/// minus the errno; the others return 0 or the errno. Nothing here checks an argument.
public final class LibIbverbs {
    private static final Map<String, LibIbverbs> OPENED = new ConcurrentHashMap<>();

    private final Map<Symbol, MemorySegment> functions = new EnumMap<>(Symbol.class);

    private LibIbverbs(SymbolLookup lookup) {
        for (Symbol symbol : Symbol.values()) {
            functions.put(symbol, lookup.find(symbol.cName()).orElse(MemorySegment.NULL));
        }
    }

    /// Opens the library (dlopen(3)), once for each name; it stays open until the process ends.
    ///
    /// @param name what the dynamic linker searches for, for example `libibverbs.so.1`, or a path
    /// @throws AbsentLibraryException if there is no such library, it is not libibverbs, or native access is
    /// denied
    public static LibIbverbs open(String name) throws AbsentLibraryException {
        LibIbverbs opened = OPENED.get(name);
        if (opened == null) {
            opened = load(name);
            OPENED.put(name, opened);
        }
        return opened;
    }

    private static LibIbverbs load(String name) throws AbsentLibraryException {
        SymbolLookup lookup = NativeLibrary.open(
                name,
                "on Debian and Ubuntu run `apt install libibverbs1 ibverbs-providers`, on RHEL `dnf install libibverbs`,"
                        + " or name it with -Drdmacomm.ibverbs.library=PATH");
        LibIbverbs library = new LibIbverbs(lookup);
        for (Symbol symbol : Symbol.values()) {
            if (symbol.isRequired() && !library.has(symbol)) {
                throw new AbsentLibraryException(
                        name + " has no " + symbol.cName() + "; it is not libibverbs, or older than 1.1");
            }
        }
        return library;
    }

    private boolean has(Symbol symbol) {
        return at(symbol).address() != 0;
    }

    private MemorySegment at(Symbol symbol) {
        return functions.getOrDefault(symbol, MemorySegment.NULL);
    }

    /// The devices as a NULL-terminated array of `struct ibv_device *`; free it with [#freeDeviceList(long)]
    /// (ibv_get_device_list(3)).
    ///
    /// @param count where their number goes, 4 bytes
    public long getDeviceList(long count) {
        return Calls.pointerL(at(Symbol.GET_DEVICE_LIST), count);
    }

    /// Frees the array of [#getDeviceList(long)]; what was opened stays valid (ibv_free_device_list(3)).
    public void freeDeviceList(long list) {
        Calls.nothingL(at(Symbol.FREE_DEVICE_LIST), list);
    }

    /// ibv_open_device(3).
    public long openDevice(long device) {
        return Calls.pointerL(at(Symbol.OPEN_DEVICE), device);
    }

    /// ibv_close_device(3).
    public int closeDevice(long context) {
        return Calls.numberL(at(Symbol.CLOSE_DEVICE), context);
    }

    /// Takes an event into a `struct ibv_async_event`; EAGAIN when there is none and the file does not block
    /// (ibv_get_async_event(3)).
    public int getAsyncEvent(long context, long event) {
        return Calls.numberLL(at(Symbol.GET_ASYNC_EVENT), context, event);
    }

    /// ibv_ack_async_event(3).
    public void acknowledgeAsyncEvent(long event) {
        Calls.nothingL(at(Symbol.ACK_ASYNC_EVENT), event);
    }

    /// Fills a `struct ibv_device_attr` (ibv_query_device(3)).
    public int queryDevice(long context, long attributes) {
        return Calls.numberLL(at(Symbol.QUERY_DEVICE), context, attributes);
    }

    /// Fills the first 48 bytes of a `struct ibv_port_attr`, the part without `port_cap_flags2`
    /// (ibv_query_port(3)).
    public int queryPort(long context, int port, long attributes) {
        return Calls.numberLIL(at(Symbol.QUERY_PORT), context, port, attributes);
    }

    /// Fills 16 bytes (ibv_query_gid(3)).
    public int queryGid(long context, int port, int index, long gid) {
        return Calls.numberLIIL(at(Symbol.QUERY_GID), context, port, index, gid);
    }

    /// Fills 2 bytes in network order (ibv_query_pkey(3)).
    public int queryPartitionKey(long context, int port, int index, long key) {
        return Calls.numberLIIL(at(Symbol.QUERY_PKEY), context, port, index, key);
    }

    /// Fills an array of `struct ibv_gid_entry` with the valid entries of all ports (ibv_query_gid_table(3)).
    ///
    /// @param room how many entries there is room for
    /// @return how many there are, or minus the errno; minus EOPNOTSUPP in libraries before 1.11
    public long queryGidTable(long context, long entries, long room) {
        return Calls.countLLLIL(
                at(Symbol.QUERY_GID_TABLE), context, entries, room, 0, PortAttributesLayout.GID_ENTRY_BYTES);
    }

    /// ibv_alloc_pd(3).
    public long allocateDomain(long context) {
        return Calls.pointerL(at(Symbol.ALLOC_PD), context);
    }

    /// ibv_dealloc_pd(3).
    public int deallocateDomain(long domain) {
        return Calls.numberL(at(Symbol.DEALLOC_PD), domain);
    }

    /// ibv_reg_mr(3).
    public long registerMemory(long domain, long address, long length, int access) {
        return Calls.pointerLLLI(at(Symbol.REG_MR), domain, address, length, access);
    }

    /// Registers memory that peers see at another address (ibv_reg_mr_iova(3)).
    public long registerMemoryAt(long domain, long address, long length, long remote, int access) {
        return Calls.pointerLLLLI(at(Symbol.REG_MR_IOVA), domain, address, length, remote, access);
    }

    /// Changes a region (ibv_rereg_mr(3)).
    public int reregisterMemory(long region, int flags, long domain, long address, long length, int access) {
        return Calls.numberLILLLI(at(Symbol.REREG_MR), region, flags, domain, address, length, access);
    }

    /// ibv_dereg_mr(3).
    public int deregisterMemory(long region) {
        return Calls.numberL(at(Symbol.DEREG_MR), region);
    }

    /// ibv_create_comp_channel(3).
    public long createChannel(long context) {
        return Calls.pointerL(at(Symbol.CREATE_COMP_CHANNEL), context);
    }

    /// ibv_destroy_comp_channel(3).
    public int destroyChannel(long channel) {
        return Calls.numberL(at(Symbol.DESTROY_COMP_CHANNEL), channel);
    }

    /// ibv_create_cq(3).
    public long createCompletionQueue(long context, int capacity, long channel, int vector) {
        return Calls.pointerLILLI(at(Symbol.CREATE_CQ), context, capacity, 0, channel, vector);
    }

    /// ibv_resize_cq(3).
    public int resizeCompletionQueue(long queue, int capacity) {
        return Calls.numberLI(at(Symbol.RESIZE_CQ), queue, capacity);
    }

    /// Waits until the queue's events are acknowledged (ibv_destroy_cq(3)).
    public int destroyCompletionQueue(long queue) {
        return Calls.numberL(at(Symbol.DESTROY_CQ), queue);
    }

    /// Takes an event and stores two pointers; EAGAIN when there is none and the file does not block
    /// (ibv_get_cq_event(3)).
    public int getCompletionEvent(long channel, long queue, long userContext) {
        return Calls.numberLLL(at(Symbol.GET_CQ_EVENT), channel, queue, userContext);
    }

    /// ibv_ack_cq_events(3).
    public void acknowledgeCompletionEvents(long queue, int events) {
        Calls.nothingLI(at(Symbol.ACK_CQ_EVENTS), queue, events);
    }

    /// Takes a `struct ibv_srq_init_attr` and changes it to what the device gave (ibv_create_srq(3)).
    public long createSharedReceiveQueue(long domain, long attributes) {
        return Calls.pointerLL(at(Symbol.CREATE_SRQ), domain, attributes);
    }

    /// ibv_modify_srq(3).
    public int modifySharedReceiveQueue(long queue, long attributes, int mask) {
        return Calls.numberLLI(at(Symbol.MODIFY_SRQ), queue, attributes, mask);
    }

    /// Fills a `struct ibv_srq_attr` (ibv_query_srq(3)).
    public int querySharedReceiveQueue(long queue, long attributes) {
        return Calls.numberLL(at(Symbol.QUERY_SRQ), queue, attributes);
    }

    /// ibv_destroy_srq(3).
    public int destroySharedReceiveQueue(long queue) {
        return Calls.numberL(at(Symbol.DESTROY_SRQ), queue);
    }

    /// Takes a `struct ibv_qp_init_attr` and changes its sizes to what the device gave (ibv_create_qp(3)).
    public long createQueuePair(long domain, long attributes) {
        return Calls.pointerLL(at(Symbol.CREATE_QP), domain, attributes);
    }

    /// Takes a `struct ibv_qp_attr` (ibv_modify_qp(3)).
    public int modifyQueuePair(long queuePair, long attributes, int mask) {
        return Calls.numberLLI(at(Symbol.MODIFY_QP), queuePair, attributes, mask);
    }

    /// Fills a `struct ibv_qp_attr` and a `struct ibv_qp_init_attr` (ibv_query_qp(3)).
    public int queryQueuePair(long queuePair, long attributes, int mask, long init) {
        return Calls.numberLLIL(at(Symbol.QUERY_QP), queuePair, attributes, mask, init);
    }

    /// ibv_destroy_qp(3).
    public int destroyQueuePair(long queuePair) {
        return Calls.numberL(at(Symbol.DESTROY_QP), queuePair);
    }

    /// Takes a `struct ibv_ah_attr` (ibv_create_ah(3)).
    public long createAddressHandle(long domain, long vector) {
        return Calls.pointerLL(at(Symbol.CREATE_AH), domain, vector);
    }

    /// ibv_destroy_ah(3).
    public int destroyAddressHandle(long handle) {
        return Calls.numberL(at(Symbol.DESTROY_AH), handle);
    }

    /// The device's globally unique number in network order (ibv_get_device_guid(3)).
    public long getDeviceGuid(long device) {
        return Calls.valueL(at(Symbol.GET_DEVICE_GUID), device);
    }
}
