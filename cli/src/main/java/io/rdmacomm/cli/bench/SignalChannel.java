package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Session;
import java.time.Duration;
import java.util.List;

/// The connection over which the two ends of a benchmark talk between measurements.
final class SignalChannel implements AutoCloseable {
    /// How long an end waits for an answer of the other one.
    static final Duration PATIENCE = Duration.ofSeconds(40);

    private final RdmaChannel channel;
    private final RdmaBuffer buffer;

    SignalChannel(Session session, RdmaChannel channel, String bufferName) {
        this.channel = channel;
        this.buffer = session.allocate(bufferName, Frame.MAX_BYTES, 1);
    }

    void send(Signal signal) {
        int length = signal.write(buffer.segment());
        channel.blocking(PATIENCE).send(buffer.slice(0, length));
    }

    Signal receive(Duration timeout) {
        try (Message message = channel.blocking(timeout).receive()) {
            return Signal.read(message.segment());
        }
    }

    /// The numbers of the next signal, which must be of `kind`.
    ///
    /// @throws CommandFailure with the peer's words when it says FAILED instead
    List<Long> expect(Signal.Kind kind) {
        Signal signal = receive(PATIENCE);
        if (signal.kind() == Signal.Kind.FAILED) {
            throw new CommandFailure("the other side says: " + signal.text());
        }
        if (signal.kind() != kind) {
            throw new CommandFailure("the other side sent " + signal.kind() + " instead of " + kind
                    + ": both sides must be of the same version");
        }
        return signal.numbers();
    }

    @Override
    public void close() {
        buffer.close();
    }
}
