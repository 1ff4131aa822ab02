package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ReceiveBlocks;
import io.rdmacomm.comm.data.ReceiveSource;
import java.util.function.Function;

/// The receives that the messages of a channel arrive in.
///
/// @param source posts the receives
/// @param messages the message of each receive
record MessageReceives(ReceiveSource source, Function<ReceiveBlocks, Message[]> messages) {
    /// Receives that only this channel uses.
    static MessageReceives of(ReceiveSource source) {
        return new MessageReceives(source, Message::in);
    }
}
