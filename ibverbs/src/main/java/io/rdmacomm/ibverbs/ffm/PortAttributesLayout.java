package io.rdmacomm.ibverbs.ffm;

/// Byte offsets in the state of a port, `struct ibv_port_attr` (ibv_query_port(3)), and in an entry of its GID
/// table, `struct ibv_gid_entry`.
public final class PortAttributesLayout {
    /// Room for the struct of any version: it grew from 48 to 52 and 56 bytes.
    public static final int ROOM = 64;
    /// `enum ibv_port_state`.
    public static final int STATE = 0;
    /// `enum ibv_mtu`.
    public static final int MAX_MTU = 4;
    /// `enum ibv_mtu`.
    public static final int ACTIVE_MTU = 8;
    /// Entries of the GID table.
    public static final int GID_TABLE_LENGTH = 12;
    /// Capability flags.
    public static final int CAPABILITY_FLAGS = 16;
    /// Longest message.
    public static final int MAX_MESSAGE_SIZE = 20;
    /// Packets with a bad partition key.
    public static final int BAD_PARTITION_KEYS = 24;
    /// Datagrams with a bad queue key.
    public static final int QUEUE_KEY_VIOLATIONS = 28;
    /// Entries of the partition key table, 2 bytes.
    public static final int PARTITION_KEY_TABLE_LENGTH = 32;
    /// Local identifier, 2 bytes.
    public static final int LID = 34;
    /// The subnet manager's local identifier, 2 bytes.
    public static final int SUBNET_MANAGER_LID = 36;
    /// Local identifier mask, 1 byte.
    public static final int LID_MASK = 38;
    /// Virtual lanes, 1 byte.
    public static final int MAX_VIRTUAL_LANES = 39;
    /// The subnet manager's service level, 1 byte.
    public static final int SUBNET_MANAGER_SERVICE_LEVEL = 40;
    /// Subnet timeout, 1 byte.
    public static final int SUBNET_TIMEOUT = 41;
    /// Initialization type reply, 1 byte.
    public static final int INIT_TYPE_REPLY = 42;
    /// Width of the link, 1 byte.
    public static final int ACTIVE_WIDTH = 43;
    /// Speed of the link, 1 byte.
    public static final int ACTIVE_SPEED = 44;
    /// Physical state, 1 byte.
    public static final int PHYSICAL_STATE = 45;
    /// Link layer, 1 byte.
    public static final int LINK_LAYER = 46;
    /// More capability flags, 2 bytes, which only the extended query fills in.
    public static final int CAPABILITY_FLAGS_2 = 48;

    /// Size of an entry of the GID table.
    public static final int GID_ENTRY_BYTES = 32;
    /// In an entry of the GID table: the GID, 16 bytes.
    public static final int GID_ENTRY_GID = 0;
    /// In an entry of the GID table: its index.
    public static final int GID_ENTRY_INDEX = 16;
    /// In an entry of the GID table: the port.
    public static final int GID_ENTRY_PORT = 20;
    /// In an entry of the GID table: `enum ibv_gid_type`.
    public static final int GID_ENTRY_TYPE = 24;
    /// In an entry of the GID table: the index of the network interface.
    public static final int GID_ENTRY_INTERFACE = 28;
    /// Size of a GID.
    public static final int GID_BYTES = 16;

    private PortAttributesLayout() {}
}
