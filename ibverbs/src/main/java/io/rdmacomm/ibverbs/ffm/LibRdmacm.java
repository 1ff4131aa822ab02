package io.rdmacomm.ibverbs.ffm;

import java.util.List;

/// librdmacm, opened by name at run time. Thread-safe; a call blocks as long as the C function does.
///
/// As in [LibIbverbs], objects are the addresses of their C structs, a method that creates one returns its address
/// or minus the errno, the others return 0 or the errno, and arguments are not checked.
public final class LibRdmacm {
    /// All but rdma_establish(3), which only RoCE and InfiniBand need.
    private static final List<String> REQUIRED = List.of(
            "rdma_create_event_channel",
            "rdma_destroy_event_channel",
            "rdma_get_cm_event",
            "rdma_ack_cm_event",
            "rdma_create_id",
            "rdma_destroy_id",
            "rdma_set_option",
            "rdma_bind_addr",
            "rdma_listen",
            "rdma_resolve_addr",
            "rdma_resolve_route",
            "rdma_init_qp_attr",
            "rdma_connect",
            "rdma_accept",
            "rdma_reject",
            "rdma_disconnect");

    private final NativeLibrary library;

    private LibRdmacm(NativeLibrary library) {
        this.library = library;
    }

    /// Opens the library, once for each name; it stays open until the process ends.
    ///
    /// @param name what the dynamic linker searches for, for example `librdmacm.so.1`, or a path
    /// @throws AbsentLibraryException if there is no such library, it is not librdmacm, or native access is denied
    public static LibRdmacm open(String name) throws AbsentLibraryException {
        return new LibRdmacm(NativeLibrary.open(
                name,
                REQUIRED,
                "it is not librdmacm",
                "on Debian and Ubuntu run `apt install librdmacm1`, on RHEL `dnf install librdmacm`, or name it with"
                        + " -Drdmacomm.ibverbs.rdmacm=PATH"));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LibRdmacm same && same.library.equals(library);
    }

    @Override
    public int hashCode() {
        return library.hashCode();
    }

    /// rdma_create_event_channel(3).
    public long createChannel() {
        return library.pointer("rdma_create_event_channel");
    }

    /// rdma_destroy_event_channel(3).
    public void destroyChannel(long channel) {
        long _ = library.value("rdma_destroy_event_channel", channel);
    }

    /// Takes an event and stores a pointer to it; EAGAIN when there is none and the file does not block
    /// (rdma_get_cm_event(3)).
    public int getEvent(long channel, long event) {
        return library.number("rdma_get_cm_event", channel, event);
    }

    /// Frees an event (rdma_ack_cm_event(3)).
    public int acknowledgeEvent(long event) {
        return library.number("rdma_ack_cm_event", event);
    }

    /// Creates an identifier and stores a pointer to it (rdma_create_id(3)).
    public int createIdentifier(long channel, long identifier, int portSpace) {
        return library.number("rdma_create_id", channel, identifier, 0, portSpace);
    }

    /// Waits until the identifier's events are acknowledged (rdma_destroy_id(3)).
    public int destroyIdentifier(long identifier) {
        return library.number("rdma_destroy_id", identifier);
    }

    /// Moves an identifier and its events to another channel; blocks until the events that were read before are
    /// acknowledged (rdma_migrate_id(3)).
    public int migrateIdentifier(long identifier, long channel) {
        return library.number("rdma_migrate_id", identifier, channel);
    }

    /// Takes a pointer to the value and its size in bytes (rdma_set_option(3)).
    public int setOption(long identifier, int level, int option, long value, int bytes) {
        return library.number("rdma_set_option", identifier, level, option, value, bytes);
    }

    /// Takes a socket address (rdma_bind_addr(3)).
    public int bindAddress(long identifier, long address) {
        return library.number("rdma_bind_addr", identifier, address);
    }

    /// rdma_listen(3).
    public int listen(long identifier, int backlog) {
        return library.number("rdma_listen", identifier, backlog);
    }

    /// Takes socket addresses, the local one may be NULL (rdma_resolve_addr(3)).
    public int resolveAddress(long identifier, long local, long remote, int milliseconds) {
        return library.number("rdma_resolve_addr", identifier, local, remote, milliseconds);
    }

    /// rdma_resolve_route(3).
    public int resolveRoute(long identifier, int milliseconds) {
        return library.number("rdma_resolve_route", identifier, milliseconds);
    }

    /// Fills a `struct ibv_qp_attr` for the state that it names, and stores the mask, 4 bytes
    /// (rdma_init_qp_attr(3)).
    public int initQueuePairAttributes(long identifier, long attributes, long mask) {
        return library.number("rdma_init_qp_attr", identifier, attributes, mask);
    }

    /// Takes a `struct rdma_conn_param` (rdma_connect(3)). On iWARP it may block as long as connect(2) does.
    public int connect(long identifier, long parameters) {
        return library.number("rdma_connect", identifier, parameters);
    }

    /// rdma_establish(3).
    public int establish(long identifier) {
        return library.number("rdma_establish", identifier);
    }

    /// Takes a `struct rdma_conn_param` (rdma_accept(3)).
    public int accept(long identifier, long parameters) {
        return library.number("rdma_accept", identifier, parameters);
    }

    /// rdma_reject(3).
    public int reject(long identifier, long privateData, int length) {
        return library.number("rdma_reject", identifier, privateData, length);
    }

    /// Takes the socket address of a group; destroying the identifier leaves it (rdma_join_multicast(3)).
    public int joinMulticast(long identifier, long address) {
        return library.number("rdma_join_multicast", identifier, address, 0);
    }

    /// rdma_disconnect(3).
    public int disconnect(long identifier) {
        return library.number("rdma_disconnect", identifier);
    }
}
