package io.rdmacomm.verbs;

/// A feature that not every device has. [Context#supports(Capability)] reports it; calls that need a missing one
/// throw [UnsupportedVerbException].
public enum Capability {
    /// Reliable connected queue pairs.
    RELIABLE_CONNECTED,
    /// Unreliable connected queue pairs.
    UNRELIABLE_CONNECTED,
    /// Unreliable datagram queue pairs and address handles.
    UNRELIABLE_DATAGRAM,
    /// Multicast groups for datagrams ([QueuePair#attach(Gid)]), which the connection manager can join
    /// ([io.rdmacomm.verbs.cm.ConnectionManager#joinMulticast]).
    MULTICAST,
    /// Queue pairs connected with [QueuePair#modify] or [QueuePair#connect] and exchanged numbers, without a
    /// connection manager.
    CONNECT_BY_NUMBERS,
    /// Queue pairs connected by address through the connection manager, package `io.rdmacomm.verbs.cm`.
    CONNECTION_MANAGER,
    /// A connection manager that sets the type of service of a connection
    /// ([io.rdmacomm.verbs.cm.IdentifierOptions#typeOfService()]).
    CONNECTION_TYPE_OF_SERVICE,
    /// A connection manager that sets the acknowledgement timeout of a connection
    /// ([io.rdmacomm.verbs.cm.ConnectionParameters#withAckTimeout(AckTimeout)]).
    CONNECTION_ACK_TIMEOUT,
    /// A connection manager that finds datagram queue pairs by address
    /// ([io.rdmacomm.verbs.cm.ConnectionManager#lookUp]).
    DATAGRAM_SERVICES,
    /// SEND with immediate data.
    SEND_WITH_IMMEDIATE,
    /// RDMA WRITE with immediate data.
    WRITE_WITH_IMMEDIATE,
    /// SEND that invalidates a key of the receiver.
    SEND_WITH_INVALIDATE,
    /// Local invalidation of a memory window.
    LOCAL_INVALIDATE,
    /// Compare-and-swap and fetch-and-add on remote memory.
    ATOMICS,
    /// A fenced READ. Every device supports the fence on other requests. Without this capability, posting a fenced
    /// READ throws [WorkRequestException].
    FENCED_READ,
    /// A READ of at most 32 bytes that crosses a 4096-byte boundary at the peer. Without this capability, posting
    /// one throws [WorkRequestException].
    SHORT_READ_ACROSS_PAGES,
    /// An element of length zero in front of others in the scatter/gather list of a send request. Every device
    /// accepts one at the end of the list. Without this capability, posting one in front throws
    /// [WorkRequestException].
    EMPTY_ELEMENTS,
    /// The state SEND_QUEUE_DRAIN, in which a connected queue pair holds back its sends.
    SEND_QUEUE_DRAIN,
    /// A queue pair that was connected can return to RESET and be connected again.
    RESET,
    /// A SEND that finds no receive is retried (RNR). Without this capability it ends the connection.
    RECEIVER_NOT_READY,
    /// Shared receive queues.
    SHARED_RECEIVE_QUEUE,
    /// A queue pair that takes its receives from a shared receive queue and has failed raises
    /// [AsyncEventType#QUEUE_PAIR_LAST_WORK_REACHED].
    LAST_WORK_EVENT,
    /// A shared receive queue can change its size ([SharedReceiveQueue#resize(int)]).
    RESIZE_SHARED_RECEIVE_QUEUE,
    /// Memory windows of type 1, bound with [QueuePair#bind].
    MEMORY_WINDOW_TYPE_1,
    /// Memory windows of type 2, bound with a work request.
    MEMORY_WINDOW_TYPE_2,
    /// A completion queue can change its size.
    RESIZE_COMPLETION_QUEUE,
    /// A memory region can change its memory, protection domain or access rights.
    REREGISTER_MEMORY,
    /// Memory can be registered with [AccessFlag#ON_DEMAND], for at least one operation of one transport
    /// service.
    ON_DEMAND_PAGING,
    /// The device allocates memory in huge pages ([PageSize#HUGE]).
    HUGE_PAGES,
    /// DMA buffers, for example memory of a graphics processor, can be registered
    /// ([ProtectionDomain#registerDmaBuffer]).
    DMA_BUFFER,
    /// Messages, and the answers to READs and atomics, can arrive in memory whose addresses in requests are
    /// not those of this process: a [AccessFlag#ZERO_BASED] region or a DMA buffer. Without this capability,
    /// posting such a receive throws [WorkRequestException], and so does posting such a READ or atomic to a
    /// queue pair that signals all requests. Peers can write there nevertheless.
    ARRIVAL_AT_OFFSETS,
    /// The device may use [AccessFlag#RELAXED_ORDERING]: the flag reaches its driver. No attribute reports
    /// whether it has an effect. Without this capability it has none.
    RELAXED_ORDERING,
    /// A completion queue can raise fewer events ([CompletionQueue#moderate]).
    COMPLETION_MODERATION,
    /// A completion queue can be armed for solicited events only.
    SOLICITED_EVENTS,
    /// Completions of one queue pair arrive in posting order, READs included.
    ORDERED_COMPLETIONS,
    /// A queue pair in ERROR flushes every request, including those that are posted while it fails or afterwards.
    ///
    /// Without it, requests posted after the device has noticed the failure may never complete, and a READ
    /// may be flushed twice. To end them, change the queue pair to ERROR, poll the remaining completions, and
    /// close the queue pair: after that, none of its requests completes, and their memory can be reused.
    FLUSH_IN_ERROR
}
