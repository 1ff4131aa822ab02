/// The service threads, a logger that never throws, the lock of queues, sockets, and folders of this user among
/// those of others, for `comm`, `nio`, `soft` and `ibverbs`, which must do all of that in the same way.
@NullMarked
package io.rdmacomm.verbs.service;

import org.jspecify.annotations.NullMarked;
