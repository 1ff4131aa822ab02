package io.rdmacomm.soft.roce.mad;

/// The service IDs of programs that are found by port (IBTA A11.2).
public enum PortSpace {
    /// Reliable connections (`RDMA_PS_TCP`).
    CONNECTIONS(0x0106_0000L),
    /// Datagrams (`RDMA_PS_UDP`).
    DATAGRAMS(0x0111_0000L);

    private static final int PORT_MASK = 0xffff;

    private final long first;

    PortSpace(long first) {
        this.first = first;
    }

    /// The service ID of a port.
    public long service(int port) {
        return first | port;
    }

    /// Whether a service ID belongs to this port space.
    public boolean contains(long service) {
        return (service & ~PORT_MASK) == first;
    }

    /// The port of a service ID.
    public static int port(long service) {
        return (int) service & PORT_MASK;
    }
}
