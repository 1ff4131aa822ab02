package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;

/// The attributes that a driver reports of a port, as in `struct ibv_port_attr`. See
/// [io.rdmacomm.verbs.PortAttributes] for the meaning of the values. A driver makes a new one for each query,
/// and does not change it afterwards.
public final class PortValues {
    /// `state`
    public PortState state = PortState.DOWN;
    /// `max_mtu`
    public PathMtu maxMtu = PathMtu.MTU_4096;
    /// `active_mtu`
    public PathMtu activeMtu = PathMtu.MTU_4096;
    /// `lid`
    public int lid;
    /// `lmc`
    public int lidMask;
    /// `sm_lid`
    public int subnetManagerLid;
    /// `sm_sl`
    public int subnetManagerServiceLevel;
    /// `gid_tbl_len`
    public int gidTableLength;
    /// `pkey_tbl_len`
    public int partitionKeyTableLength;
    /// `max_msg_sz`
    public long maxMessageSize;
    /// `port_cap_flags`
    public int capabilityFlags;
    /// `port_cap_flags2`
    public int capabilityFlags2;
    /// `max_vl_num`
    public int maxVirtualLanes;
    /// `bad_pkey_cntr`
    public int badPartitionKeys;
    /// `qkey_viol_cntr`
    public int queueKeyViolations;
    /// `subnet_timeout`
    public int subnetTimeout;
    /// `init_type_reply`
    public int initTypeReply;
    /// `active_width`
    public int activeWidth;
    /// `active_speed`
    public int activeSpeed;
    /// `phys_state`
    public int physicalState;
    /// `link_layer`
    public LinkLayer linkLayer = LinkLayer.UNSPECIFIED;

    /// Numbers are 0 until they are set.
    public PortValues() {}
}
