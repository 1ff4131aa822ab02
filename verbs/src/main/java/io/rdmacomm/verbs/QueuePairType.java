package io.rdmacomm.verbs;

/// The transport service of a queue pair (`enum ibv_qp_type`, ibv_create_qp(3)).
public enum QueuePairType {
    /// Connected, ordered, acknowledged: SEND, RECV, WRITE, READ and atomics (RC).
    RELIABLE_CONNECTED(2),
    /// Connected, unacknowledged: SEND, RECV and WRITE (UC).
    UNRELIABLE_CONNECTED(3),
    /// Connectionless datagrams up to the path MTU (UD).
    UNRELIABLE_DATAGRAM(4);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    /// The value in the C API.
    public int code() {
        return code;
    }
}
