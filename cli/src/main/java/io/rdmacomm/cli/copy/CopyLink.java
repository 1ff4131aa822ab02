package io.rdmacomm.cli.copy;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// What a file copy travels over: notes both ways, and blocks of data from the sender to the receiver, all in
/// order. One thread uses it.
public interface CopyLink extends AutoCloseable {
    /// How long either side may be silent.
    Duration PATIENCE = Duration.ofSeconds(30);

    /// What it is, for people.
    String description();

    /// Sends a note.
    void send(Note note);

    /// Waits for the next note; a chunk of data comes as a note of kind DATA.
    Note receive(Duration timeout);

    /// The next note if there is one; never waits.
    @Nullable
    Note poll();

    /// For the sender: an empty block to put the next chunk of data into. Waits until there is room.
    ByteBuffer block();

    /// For the sender: sends what is in that block, from its beginning to its position.
    void sendBlock(ByteBuffer block);

    /// For the receiver: the chunk of the DATA note that came last.
    ByteBuffer data();

    /// For the receiver: gives the memory of that chunk back.
    void release();

    @Override
    void close();
}
