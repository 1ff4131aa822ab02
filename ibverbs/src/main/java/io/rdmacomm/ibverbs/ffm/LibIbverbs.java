package io.rdmacomm.ibverbs.ffm;

import java.util.List;

/// libibverbs, opened by name at run time. Thread-safe; a call blocks as long as the C function does.
///
/// Objects are the addresses of their C structs. A method that creates one returns its address or, if it failed,
/// minus the errno; the others return 0 or the errno. Arguments are not checked.
public final class LibIbverbs {
    /// The functions of libibverbs 1.1. Newer ones may be missing; calling them then fails with EOPNOTSUPP.
    private static final List<String> REQUIRED = List.of(
            "ibv_get_device_list",
            "ibv_free_device_list",
            "ibv_get_device_guid",
            "ibv_open_device",
            "ibv_close_device",
            "ibv_get_async_event",
            "ibv_ack_async_event",
            "ibv_query_device",
            "ibv_query_port",
            "ibv_query_gid",
            "ibv_query_pkey",
            "ibv_alloc_pd",
            "ibv_dealloc_pd",
            "ibv_reg_mr",
            "ibv_dereg_mr",
            "ibv_create_comp_channel",
            "ibv_destroy_comp_channel",
            "ibv_create_cq",
            "ibv_destroy_cq",
            "ibv_get_cq_event",
            "ibv_ack_cq_events",
            "ibv_create_qp",
            "ibv_modify_qp",
            "ibv_query_qp",
            "ibv_destroy_qp");

    private final NativeLibrary library;

    private LibIbverbs(NativeLibrary library) {
        this.library = library;
    }

    /// Opens the library (dlopen(3)), once for each name; it stays open until the process ends.
    ///
    /// @param name what the dynamic linker searches for, for example `libibverbs.so.1`, or a path
    /// @throws AbsentLibraryException if there is no such library, it is not libibverbs, or native access is denied
    public static LibIbverbs open(String name) throws AbsentLibraryException {
        return new LibIbverbs(NativeLibrary.open(
                name,
                REQUIRED,
                "it is not libibverbs, or older than 1.1",
                "on Debian and Ubuntu run `apt install libibverbs1 ibverbs-providers`, on RHEL `dnf install libibverbs`,"
                        + " or name it with -Drdmacomm.ibverbs.library=PATH"));
    }

    /// The devices as a NULL-terminated array of `struct ibv_device *`; free it with [#freeDeviceList(long)]
    /// (ibv_get_device_list(3)).
    ///
    /// @param count address of 4 bytes for their number
    public long getDeviceList(long count) {
        return library.pointer("ibv_get_device_list", count);
    }

    /// Frees the array of [#getDeviceList(long)]; open devices stay valid (ibv_free_device_list(3)).
    public void freeDeviceList(long list) {
        long _ = library.value("ibv_free_device_list", list);
    }

    /// ibv_open_device(3).
    public long openDevice(long device) {
        return library.pointer("ibv_open_device", device);
    }

    /// ibv_close_device(3).
    public int closeDevice(long context) {
        return library.number("ibv_close_device", context);
    }

    /// Takes an event into a `struct ibv_async_event`; EAGAIN when there is none and the file does not block
    /// (ibv_get_async_event(3)).
    public int getAsyncEvent(long context, long event) {
        return library.number("ibv_get_async_event", context, event);
    }

    /// ibv_ack_async_event(3).
    public void acknowledgeAsyncEvent(long event) {
        long _ = library.value("ibv_ack_async_event", event);
    }

    /// Fills a `struct ibv_device_attr` (ibv_query_device(3)).
    public int queryDevice(long context, long attributes) {
        return library.number("ibv_query_device", context, attributes);
    }

    /// Fills the first 48 bytes of a `struct ibv_port_attr`, the part without `port_cap_flags2`
    /// (ibv_query_port(3)).
    public int queryPort(long context, int port, long attributes) {
        return library.number("ibv_query_port", context, port, attributes);
    }

    /// Fills 16 bytes (ibv_query_gid(3)).
    public int queryGid(long context, int port, int index, long gid) {
        return library.number("ibv_query_gid", context, port, index, gid);
    }

    /// Fills 2 bytes in network order (ibv_query_pkey(3)).
    public int queryPartitionKey(long context, int port, int index, long key) {
        return library.number("ibv_query_pkey", context, port, index, key);
    }

    /// Fills an array of `struct ibv_gid_entry` with the valid entries of all ports (ibv_query_gid_table(3)).
    ///
    /// @param room how many entries there is room for
    /// @return how many there are, or minus the errno; minus EOPNOTSUPP in libraries before 1.11
    public long queryGidTable(long context, long entries, long room) {
        return library.value("_ibv_query_gid_table", context, entries, room, 0, PortAttributesLayout.GID_ENTRY_BYTES);
    }

    /// ibv_alloc_pd(3).
    public long allocateDomain(long context) {
        return library.pointer("ibv_alloc_pd", context);
    }

    /// ibv_dealloc_pd(3).
    public int deallocateDomain(long domain) {
        return library.number("ibv_dealloc_pd", domain);
    }

    /// ibv_reg_mr(3).
    public long registerMemory(long domain, long address, long length, int access) {
        return library.pointer("ibv_reg_mr", domain, address, length, access);
    }

    /// Registers memory that peers see at another address (ibv_reg_mr_iova(3)).
    public long registerMemoryAt(long domain, long address, long length, long remote, int access) {
        return library.pointer("ibv_reg_mr_iova", domain, address, length, remote, access);
    }

    /// Whether the library has [#registerWithOptions], as it has since 1.8.
    public boolean takesOptions() {
        return library.has("ibv_reg_mr_iova2");
    }

    /// The same with access flags that a device may ignore, those of `IBV_ACCESS_OPTIONAL_RANGE`. In C,
    /// ibv_reg_mr(3) and ibv_reg_mr_iova(3) are macros that call this for such flags.
    public long registerWithOptions(long domain, long address, long length, long remote, int access) {
        return library.pointer("ibv_reg_mr_iova2", domain, address, length, remote, access);
    }

    /// Registers memory of another device (ibv_reg_dmabuf_mr(3)); since libibverbs 1.12.
    public long registerDmaBuffer(long domain, long offset, long length, long address, int file, int access) {
        return library.pointer("ibv_reg_dmabuf_mr", domain, offset, length, address, file, access);
    }

    /// Changes a region (ibv_rereg_mr(3)).
    public int reregisterMemory(long region, int flags, long domain, long address, long length, int access) {
        return library.numberWithErrno("ibv_rereg_mr", region, flags, domain, address, length, access);
    }

    /// ibv_dereg_mr(3).
    public int deregisterMemory(long region) {
        return library.number("ibv_dereg_mr", region);
    }

    /// ibv_create_comp_channel(3).
    public long createChannel(long context) {
        return library.pointer("ibv_create_comp_channel", context);
    }

    /// ibv_destroy_comp_channel(3).
    public int destroyChannel(long channel) {
        return library.number("ibv_destroy_comp_channel", channel);
    }

    /// ibv_create_cq(3).
    public long createCompletionQueue(long context, int capacity, long channel, int vector) {
        return library.pointer("ibv_create_cq", context, capacity, 0, channel, vector);
    }

    /// ibv_resize_cq(3).
    public int resizeCompletionQueue(long queue, int capacity) {
        return library.number("ibv_resize_cq", queue, capacity);
    }

    /// Waits until the queue's events are acknowledged (ibv_destroy_cq(3)).
    public int destroyCompletionQueue(long queue) {
        return library.number("ibv_destroy_cq", queue);
    }

    /// Takes an event and stores two pointers; EAGAIN when there is none and the file does not block
    /// (ibv_get_cq_event(3)).
    public int getCompletionEvent(long channel, long queue, long userContext) {
        return library.number("ibv_get_cq_event", channel, queue, userContext);
    }

    /// ibv_ack_cq_events(3).
    public void acknowledgeCompletionEvents(long queue, int events) {
        long _ = library.value("ibv_ack_cq_events", queue, events);
    }

    /// Takes a `struct ibv_srq_init_attr` and replaces its sizes by those granted (ibv_create_srq(3)).
    public long createSharedReceiveQueue(long domain, long attributes) {
        return library.pointer("ibv_create_srq", domain, attributes);
    }

    /// ibv_modify_srq(3).
    public int modifySharedReceiveQueue(long queue, long attributes, int mask) {
        return library.number("ibv_modify_srq", queue, attributes, mask);
    }

    /// Fills a `struct ibv_srq_attr` (ibv_query_srq(3)).
    public int querySharedReceiveQueue(long queue, long attributes) {
        return library.number("ibv_query_srq", queue, attributes);
    }

    /// ibv_destroy_srq(3).
    public int destroySharedReceiveQueue(long queue) {
        return library.number("ibv_destroy_srq", queue);
    }

    /// Takes a `struct ibv_qp_init_attr` and replaces its sizes by those granted (ibv_create_qp(3)).
    public long createQueuePair(long domain, long attributes) {
        return library.pointer("ibv_create_qp", domain, attributes);
    }

    /// Takes a `struct ibv_qp_attr` (ibv_modify_qp(3)).
    public int modifyQueuePair(long queuePair, long attributes, int mask) {
        return library.number("ibv_modify_qp", queuePair, attributes, mask);
    }

    /// Fills a `struct ibv_qp_attr` and a `struct ibv_qp_init_attr` (ibv_query_qp(3)).
    public int queryQueuePair(long queuePair, long attributes, int mask, long init) {
        return library.number("ibv_query_qp", queuePair, attributes, mask, init);
    }

    /// ibv_destroy_qp(3).
    public int destroyQueuePair(long queuePair) {
        return library.number("ibv_destroy_qp", queuePair);
    }

    /// Takes a `struct ibv_ah_attr` (ibv_create_ah(3)).
    public long createAddressHandle(long domain, long vector) {
        return library.pointer("ibv_create_ah", domain, vector);
    }

    /// ibv_destroy_ah(3).
    public int destroyAddressHandle(long handle) {
        return library.number("ibv_destroy_ah", handle);
    }

    /// Takes the 16 bytes of a GID (ibv_attach_mcast(3)).
    public int attachMulticast(long queuePair, long gid, int lid) {
        return library.number("ibv_attach_mcast", queuePair, gid, lid);
    }

    /// Takes the 16 bytes of a GID (ibv_detach_mcast(3)).
    public int detachMulticast(long queuePair, long gid, int lid) {
        return library.number("ibv_detach_mcast", queuePair, gid, lid);
    }

    /// The device's globally unique number in network order (ibv_get_device_guid(3)).
    public long getDeviceGuid(long device) {
        return library.value("ibv_get_device_guid", device);
    }
}
