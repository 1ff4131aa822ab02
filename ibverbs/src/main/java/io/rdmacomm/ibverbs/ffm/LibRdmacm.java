package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// librdmacm, opened by name at run time. Usable from any thread; blocks as long as the C call does.
///
/// As in [LibIbverbs], objects are the addresses of their C structs, a method that creates one returns its address
/// or minus the errno, the others return 0 or the errno, and nothing here checks an argument.
public final class LibRdmacm {
    private static final Map<String, LibRdmacm> OPENED = new ConcurrentHashMap<>();

    private final Map<ConnectionSymbol, MemorySegment> functions = new EnumMap<>(ConnectionSymbol.class);

    private LibRdmacm(SymbolLookup lookup) {
        for (ConnectionSymbol symbol : ConnectionSymbol.values()) {
            functions.put(symbol, lookup.find(symbol.cName()).orElse(MemorySegment.NULL));
        }
    }

    /// Opens the library, once for each name; it stays open until the process ends.
    ///
    /// @param name what the dynamic linker searches for, for example `librdmacm.so.1`, or a path
    /// @throws AbsentLibraryException if there is no such library, it is not librdmacm, or native access is denied
    public static LibRdmacm open(String name) throws AbsentLibraryException {
        LibRdmacm opened = OPENED.get(name);
        if (opened == null) {
            opened = load(name);
            OPENED.put(name, opened);
        }
        return opened;
    }

    private static LibRdmacm load(String name) throws AbsentLibraryException {
        LibRdmacm library = new LibRdmacm(NativeLibrary.open(
                name,
                "on Debian and Ubuntu run `apt install librdmacm1`, on RHEL `dnf install librdmacm`, or name it with"
                        + " -Drdmacomm.ibverbs.rdmacm=PATH"));
        for (ConnectionSymbol symbol : ConnectionSymbol.values()) {
            if (symbol.isRequired() && library.at(symbol).address() == 0) {
                throw new AbsentLibraryException(name + " has no " + symbol.cName() + "; it is not librdmacm");
            }
        }
        return library;
    }

    private MemorySegment at(ConnectionSymbol symbol) {
        return functions.getOrDefault(symbol, MemorySegment.NULL);
    }

    /// rdma_create_event_channel(3).
    public long createChannel() {
        return Calls.pointer(at(ConnectionSymbol.CREATE_EVENT_CHANNEL));
    }

    /// rdma_destroy_event_channel(3).
    public void destroyChannel(long channel) {
        Calls.nothingL(at(ConnectionSymbol.DESTROY_EVENT_CHANNEL), channel);
    }

    /// Takes an event and stores a pointer to it; EAGAIN when there is none and the file does not block
    /// (rdma_get_cm_event(3)).
    public int getEvent(long channel, long event) {
        return Calls.numberLL(at(ConnectionSymbol.GET_CM_EVENT), channel, event);
    }

    /// Frees an event (rdma_ack_cm_event(3)).
    public int acknowledgeEvent(long event) {
        return Calls.numberL(at(ConnectionSymbol.ACK_CM_EVENT), event);
    }

    /// Creates an identifier and stores a pointer to it (rdma_create_id(3)).
    public int createIdentifier(long channel, long identifier, int portSpace) {
        return Calls.numberLLLI(at(ConnectionSymbol.CREATE_ID), channel, identifier, 0, portSpace);
    }

    /// Waits until the identifier's events are acknowledged (rdma_destroy_id(3)).
    public int destroyIdentifier(long identifier) {
        return Calls.numberL(at(ConnectionSymbol.DESTROY_ID), identifier);
    }

    /// Takes a socket address (rdma_bind_addr(3)).
    public int bindAddress(long identifier, long address) {
        return Calls.numberLL(at(ConnectionSymbol.BIND_ADDR), identifier, address);
    }

    /// rdma_listen(3).
    public int listen(long identifier, int backlog) {
        return Calls.numberLI(at(ConnectionSymbol.LISTEN), identifier, backlog);
    }

    /// Takes socket addresses, the local one may be NULL (rdma_resolve_addr(3)).
    public int resolveAddress(long identifier, long local, long remote, int milliseconds) {
        return Calls.numberLLLI(at(ConnectionSymbol.RESOLVE_ADDR), identifier, local, remote, milliseconds);
    }

    /// rdma_resolve_route(3).
    public int resolveRoute(long identifier, int milliseconds) {
        return Calls.numberLI(at(ConnectionSymbol.RESOLVE_ROUTE), identifier, milliseconds);
    }

    /// Fills a `struct ibv_qp_attr` for the state that it names, and stores the mask, 4 bytes
    /// (rdma_init_qp_attr(3)).
    public int initQueuePairAttributes(long identifier, long attributes, long mask) {
        return Calls.numberLLL(at(ConnectionSymbol.INIT_QP_ATTR), identifier, attributes, mask);
    }

    /// Takes a `struct rdma_conn_param` (rdma_connect(3)). On iWARP it may block as long as connect(2) does.
    public int connect(long identifier, long parameters) {
        return Calls.numberLL(at(ConnectionSymbol.CONNECT), identifier, parameters);
    }

    /// rdma_establish(3).
    public int establish(long identifier) {
        return Calls.numberL(at(ConnectionSymbol.ESTABLISH), identifier);
    }

    /// Takes a `struct rdma_conn_param` (rdma_accept(3)).
    public int accept(long identifier, long parameters) {
        return Calls.numberLL(at(ConnectionSymbol.ACCEPT), identifier, parameters);
    }

    /// rdma_reject(3).
    public int reject(long identifier, long privateData, int length) {
        return Calls.numberLLI(at(ConnectionSymbol.REJECT), identifier, privateData, length);
    }

    /// rdma_disconnect(3).
    public int disconnect(long identifier) {
        return Calls.numberL(at(ConnectionSymbol.DISCONNECT), identifier);
    }
}
