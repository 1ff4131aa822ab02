package io.rdmacomm.soft.cm;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaTerms;
import java.nio.channels.SocketChannel;

/// A connection that stands, as its initiator has it.
///
/// @param channel connected, not blocking; its first unread byte is the first of the peer's stream
/// @param reply what the responder answered
/// @param terms what holds from now on
public record MpaConnection(SocketChannel channel, MpaFrame reply, MpaTerms terms) {}
