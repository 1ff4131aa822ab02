package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.nio.ByteBuffer;

/// The receiver's end of a link. A DATA message reports each chunk of data.
interface ReceiverLink extends CopyLink {
    /// Takes data.
    interface Sink {
        /// Takes the next piece, in memory that the sender cannot change.
        void accept(ByteBuffer piece) throws IOException;
    }

    /// Allocates memory for data, if there is none yet, and announces it to the sender.
    ///
    /// @throws RejectedFileException if the memory for senders is used up
    void prepare() throws RejectedFileException;

    /// Passes the chunk of the last DATA message to `sink`.
    void data(Sink sink) throws IOException;

    /// Releases the memory of that chunk.
    void release();
}
