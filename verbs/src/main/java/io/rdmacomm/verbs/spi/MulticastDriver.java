package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.cm.DatagramTarget;

/// The membership in a multicast group ([io.rdmacomm.verbs.cm.MulticastMembership]). Closing it leaves the group.
public interface MulticastDriver extends Driver {
    /// The address of datagrams to the group.
    DatagramTarget target();
}
