package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// The client of `rdmacomm ping`.
final class PingClient implements AutoCloseable {
    private final RdmaChannel channel;
    private final RdmaBuffer buffer;
    private final BufferSlice message;
    private final Duration timeout;
    private final long seed;

    PingClient(ClientSession session, int bytes, Duration timeout, long seed) {
        this.channel = session.endPoint().channel(0);
        this.timeout = timeout;
        this.seed = seed;
        int length = Math.max(bytes, PingMessage.HEADER_BYTES);
        if (length > channel.maxMessageBytes()) {
            throw new CommandFailure("the server accepts messages of at most " + channel.maxMessageBytes()
                    + " bytes: use a smaller --size");
        }
        this.buffer = session.allocate("pings", length);
        this.message = buffer.block(0);
    }

    /// Sends ping `number`, waits for the answer and checks it.
    ///
    /// @return the round-trip time in nanoseconds
    long ping(long number) {
        PingMessage.write(message.segment(), PingMessage.PING, seed, number);
        long begin = System.nanoTime();
        channel.blocking(timeout).send(message);
        try (Message answer = channel.blocking(timeout).receive()) {
            long nanos = System.nanoTime() - begin;
            check(answer.segment(), number);
            return nanos;
        }
    }

    private void check(MemorySegment answer, long number) {
        PingMessage.check(answer);
        if (PingMessage.direction(answer) == PingMessage.DAMAGED) {
            throw new CommandFailure("ping " + number + " arrived damaged at the server");
        }
        boolean answers = PingMessage.direction(answer) == PingMessage.PONG
                && PingMessage.seed(answer) == seed
                && PingMessage.number(answer) == number
                && answer.byteSize() == message.length();
        long wrong = answers ? PingMessage.mismatch(answer) : 0;
        if (wrong >= 0) {
            throw new CommandFailure("the answer to ping " + number + " is wrong from byte " + wrong + " on");
        }
    }

    @Override
    public void close() {
        buffer.close();
    }
}
