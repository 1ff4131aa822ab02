/// The provider for RDMA devices, over libibverbs and librdmacm: finds devices, opens them, and chooses their
/// [Drivers].
///
/// The packages below: `.objects` has the verbs objects, `.cm` the connection manager, `.siw` and `.drivers` the
/// workarounds for kernel drivers, `.structs` translates between C and Java, and only `.ffm` links native code.
@NullMarked
package io.rdmacomm.ibverbs;

import org.jspecify.annotations.NullMarked;
