package io.rdmacomm.cli.copy;

import java.nio.ByteBuffer;

/// The receiver's end of a link. A chunk of data is reported by a DATA message.
public interface ReceiverLink extends CopyLink {
    /// The chunk of the last DATA message.
    ByteBuffer data();

    /// Gives the memory of that chunk back.
    void release();
}
