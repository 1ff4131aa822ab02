package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.rig.Frame;
import java.time.Duration;

/// One side's end of the connection that files are copied over. Control messages and data arrive in the order in
/// which they were sent. For one thread.
interface CopyLink extends AutoCloseable {
    /// How long either side may be silent in the middle of a file.
    Duration TIMEOUT = Duration.ofSeconds(30);

    /// Sends a control message. Blocks until it has been sent.
    void send(Frame<CopyMessage> frame);

    /// Waits for the next control message.
    Frame<CopyMessage> receive(Duration timeout);

    @Override
    void close();
}
