/// The transport over RoCE v2: a [io.rdmacomm.soft.roce.RoceNode] has the socket of an address, and each queue pair a
/// [io.rdmacomm.soft.roce.RoceTransport] with a requester and a responder (InfiniBand Architecture Specification 1.4,
/// chapter 9 and annex A17).
@NullMarked
package io.rdmacomm.soft.roce;

import org.jspecify.annotations.NullMarked;
