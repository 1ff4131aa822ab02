package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/// Called first by JDK methods that treat the JDK's own socket channels specially, so that ours are treated
/// likewise. The agent inserts the calls. Thread-safe.
public final class JdkCalls {
    /// The channel is not one of ours: the JDK continues.
    private static final long NOT_OURS = -1;

    private JdkCalls() {}

    /// A stream that reads from a channel ([java.nio.channels.Channels#newInputStream(ReadableByteChannel)]).
    ///
    /// @return null if the channel is not one of ours
    public static @Nullable InputStream input(ReadableByteChannel channel) {
        return channel instanceof RdmaSocketChannel ours ? new SocketInput(ours, () -> Timeouts.NONE) : null;
    }

    /// A stream that writes to a channel ([java.nio.channels.Channels#newOutputStream(WritableByteChannel)]).
    ///
    /// @return null if the channel is not one of ours
    public static @Nullable OutputStream output(WritableByteChannel channel) {
        return channel instanceof RdmaSocketChannel ours ? new SocketOutput(ours) : null;
    }

    /// Sends a part of a file ([FileChannel#transferTo]). The JDK has checked the arguments.
    ///
    /// @return how many bytes were sent; negative if the target is not one of ours
    public static long transfer(FileChannel file, long position, long count, WritableByteChannel target)
            throws IOException {
        return target instanceof RdmaSocketChannel ours ? ours.stream().transferFrom(file, position, count) : NOT_OURS;
    }

    /// Sends the rest of a file ([InputStream#transferTo]).
    ///
    /// @return how many bytes were sent; negative if the stream does not write to a channel of ours, or the source
    ///         has no size
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
