/// The service threads of rdmacomm, a logger that never throws, and the lock of queues. For the modules of rdmacomm
/// only.
@NullMarked
package io.rdmacomm.verbs.service;

import org.jspecify.annotations.NullMarked;
