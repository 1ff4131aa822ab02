package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.rig.Frame;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The sender's end of a link.
interface SenderLink extends CopyLink {
    /// The next control message if one has arrived, else null. Does not block.
    @Nullable
    Frame<CopyMessage> poll();

    /// An empty block for the next chunk of data. Blocks until one is free.
    ByteBuffer block();

    /// Sends the content of `block`, from its start to its position, as data of a file.
    ///
    /// @param file the number of its offer
    void sendBlock(ByteBuffer block, long file);
}
