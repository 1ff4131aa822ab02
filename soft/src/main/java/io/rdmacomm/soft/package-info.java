/// The software device: queue pairs, completion queues and memory regions with the semantics of verbs, in pure
/// Java. The initiator of an operation executes it; an engine thread per context only handles work that must wait.
@NullMarked
package io.rdmacomm.soft;

import org.jspecify.annotations.NullMarked;
