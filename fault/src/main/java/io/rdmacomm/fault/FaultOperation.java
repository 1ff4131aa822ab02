package io.rdmacomm.fault;

import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.SendOpcode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The operations that rules apply to: requests, and calls outside the data path.
enum FaultOperation {
    /// A SEND of any kind.
    SEND,
    /// A WRITE of any kind.
    WRITE,
    /// A READ.
    READ,
    /// A compare-and-swap or fetch-and-add.
    ATOMIC,
    /// Any of the operations above.
    ANY,
    /// A receive of a queue pair.
    RECEIVE,
    /// Registering or allocating memory (ibv_reg_mr).
    REGISTER,
    /// Allocating a protection domain (ibv_alloc_pd).
    ALLOCATE_DOMAIN,
    /// Allocating a memory window (ibv_alloc_mw).
    ALLOCATE_WINDOW,
    /// Creating a completion channel (ibv_create_comp_channel).
    CREATE_CHANNEL,
    /// Creating a completion queue (ibv_create_cq).
    CREATE_COMPLETION_QUEUE,
    /// Creating a shared receive queue (ibv_create_srq).
    CREATE_SHARED_RECEIVE_QUEUE,
    /// Creating a queue pair (ibv_create_qp).
    CREATE_QUEUE_PAIR,
    /// Changing a queue pair to READY_TO_RECEIVE (ibv_modify_qp).
    CONNECT;

    /// Its name in rules, for example `create-queue-pair`.
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Whether it is a call rather than a request.
    boolean isCall() {
        return compareTo(RECEIVE) > 0;
    }

    /// Whether a rule about this operation also applies to `other`.
    boolean includes(FaultOperation other) {
        return this == other || (this == ANY && other.compareTo(ANY) < 0);
    }

    /// Whether it accesses memory of the peer.
    boolean isOneSided() {
        return this == WRITE || this == READ || this == ATOMIC;
    }

    /// The operation of a send request; null if no rule can apply to it.
    static @Nullable FaultOperation ofSend(SendOpcode opcode) {
        return switch (opcode) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE -> SEND;
            case WRITE, WRITE_WITH_IMMEDIATE -> WRITE;
            case READ -> READ;
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> ATOMIC;
            case LOCAL_INVALIDATE, BIND_WINDOW, UNKNOWN -> null;
        };
    }

    /// The operation that a completion reports; null if no rule can apply to it.
    static @Nullable FaultOperation ofCompletion(CompletionOpcode opcode) {
        return switch (opcode) {
            case SEND -> SEND;
            case WRITE -> WRITE;
            case READ -> READ;
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> ATOMIC;
            case RECEIVE, RECEIVE_WRITE_WITH_IMMEDIATE -> RECEIVE;
            case BIND_WINDOW, LOCAL_INVALIDATE, UNKNOWN -> null;
        };
    }
}
