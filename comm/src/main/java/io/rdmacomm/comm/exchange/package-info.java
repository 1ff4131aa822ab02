/// Exchanges: conversations of two programs over one TCP connection. Before the first message the two agree on a
/// version and, with a secret or TLS, prove who they are. Exchanges are for messages outside of sessions: who takes
/// part, where the others listen, which settings hold.
///
/// The messages are frames of at most [io.rdmacomm.comm.exchange.Exchange#MAX_MESSAGE_BYTES]; data goes
/// over sessions.
@NullMarked
package io.rdmacomm.comm.exchange;

import org.jspecify.annotations.NullMarked;
