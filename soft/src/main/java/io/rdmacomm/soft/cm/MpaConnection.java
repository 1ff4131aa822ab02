package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaTerms;
import java.nio.channels.SocketChannel;

/// An established connection, on the initiator's side.
///
/// @param channel connected, not blocking; its first unread byte is the first of the peer's stream
/// @param reply of the responder
/// @param terms the agreed terms
public record MpaConnection(SocketChannel channel, MpaFrame reply, MpaTerms terms) {}
