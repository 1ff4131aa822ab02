package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/// Where classes of the JDK do something special for its own socket channels, the agent has them call this first for
/// ours. Thread-safe.
public final class JdkCalls {
    /// The channel is none of ours: the JDK goes on.
    private static final long NOT_OURS = -1;

    private JdkCalls() {}

    /// A stream that reads from a channel ([java.nio.channels.Channels#newInputStream(ReadableByteChannel)]).
    ///
    /// @return null if the channel is none of ours
    public static @Nullable InputStream input(ReadableByteChannel channel) {
        return channel instanceof RdmaSocketChannel ours ? new SocketInput(ours, () -> Timeouts.NONE) : null;
    }

    /// A stream that writes to a channel ([java.nio.channels.Channels#newOutputStream(WritableByteChannel)]).
    ///
    /// @return null if the channel is none of ours
    public static @Nullable OutputStream output(WritableByteChannel channel) {
        return channel instanceof RdmaSocketChannel ours ? new SocketOutput(ours) : null;
    }

    /// Sends a part of a file ([FileChannel#transferTo]). The JDK has checked the arguments.
    ///
    /// @return how many bytes were sent; negative if the target is none of ours
    public static long transfer(FileChannel file, long position, long count, WritableByteChannel target)
            throws IOException {
        return target instanceof RdmaSocketChannel ours ? ours.transferFrom(file, position, count) : NOT_OURS;
    }

    /// Sends the rest of a file ([InputStream#transferTo]).
    ///
    /// @return how many bytes were sent; negative if the stream writes to no channel of ours, or the source has no
    ///         size
    public static long transfer(ReadableByteChannel source, @Nullable OutputStream target) throws IOException {
        if (!(source instanceof FileChannel file && target instanceof SocketOutput output && file.size() > 0)) {
            return NOT_OURS;
        }
        RdmaSocketChannel channel = output.channel();
        if (channel.isOpen() && !channel.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
        long begin = file.position();
        long position = begin;
        try {
            while (position < file.size()) {
                position += file.transferTo(position, Long.MAX_VALUE, channel);
            }
        } finally {
            file.position(position);
        }
        return position - begin;
    }
}
