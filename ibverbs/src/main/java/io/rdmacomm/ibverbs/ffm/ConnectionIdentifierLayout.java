package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in an identifier of the connection manager, `struct rdma_cm_id` (rdma_create_id(3)), and in the
/// channel that its events come through, `struct rdma_event_channel`.
public final class ConnectionIdentifierLayout {
    /// Size of an identifier.
    public static final int BYTES = 416;
    /// The device it is bound to, a pointer to a `struct ibv_context`; NULL if it is not bound.
    public static final int CONTEXT = 0;
    /// The address on this side, a `struct sockaddr_storage`.
    public static final int LOCAL_ADDRESS = 32;
    /// The address of the peer, a `struct sockaddr_storage`.
    public static final int REMOTE_ADDRESS = 160;

    /// In a `struct ibv_context`: the device, a pointer to a `struct ibv_device`.
    public static final int CONTEXT_DEVICE = 0;

    /// Size of an event channel.
    public static final int CHANNEL_BYTES = 4;
    /// In an event channel: its file descriptor.
    public static final int CHANNEL_FILE = 0;

    /// `RDMA_PS_TCP` of `enum rdma_port_space`: connections.
    public static final int PORT_SPACE_TCP = 0x106;
    /// `RDMA_PS_UDP` of `enum rdma_port_space`: datagrams.
    public static final int PORT_SPACE_UDP = 0x111;

    /// The level of the options below (rdma_set_option(3)).
    public static final int OPTION_LEVEL = 0;
    /// The type of service, 1 byte.
    public static final int OPTION_TYPE_OF_SERVICE = 0;
    /// Whether the address can be reused, 4 bytes.
    public static final int OPTION_REUSE_ADDRESS = 1;
    /// Whether to use one address family only, 4 bytes.
    public static final int OPTION_ADDRESS_FAMILY_ONLY = 2;
    /// The acknowledgement timeout, 1 byte.
    public static final int OPTION_ACK_TIMEOUT = 3;

    private ConnectionIdentifierLayout() {}
}
