package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.AddressVector;

/// The destination of datagrams (`struct rdma_ud_param`, rdma_get_cm_event(3)).
///
/// @param path the path to the port or group, for
///        [io.rdmacomm.verbs.ProtectionDomain#createAddressHandle(AddressVector)]
/// @param queuePairNumber the number of the queue pair; [io.rdmacomm.verbs.SendBatch#MULTICAST] for a group
/// @param queueKey the queue key with which its receivers accept datagrams
public record DatagramTarget(AddressVector path, int queuePairNumber, int queueKey) {
    /// The queue key of all queue pairs that are found by address, and of all groups that are joined by
    /// address (`RDMA_UDP_QKEY`). The kernel's connection manager uses no other.
    public static final int QUEUE_KEY = 0x01234567;
}
