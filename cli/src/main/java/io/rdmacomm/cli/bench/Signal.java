package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameKind;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/// What the two ends of a benchmark tell each other between measurements, as frames with the magic "RCB1".
///
/// @param kind what it means
/// @param numbers what belongs to it
/// @param text for people
record Signal(Kind kind, List<Long> numbers, String text) {
    private static final int MAGIC = 0x52434231;

    /// What a signal means.
    enum Kind implements FrameKind {
        /// Yes.
        OK(1),
        /// No; the text says why.
        FAILED(2),
        /// The client names the file for the measurement of the machine's limit.
        FLOOR(3),
        /// The client says what the next connection is for.
        TRIAL(4),
        /// The client asks for a number of operations, and how they count.
        STEP(5),
        /// The server is ready for the step.
        READY(6),
        /// The client has finished the step.
        DONE(7),
        /// The server says what the step cost it and whether the data was right.
        REPORT(8),
        /// The client has finished with the connection.
        END(9),
        /// The client asks for a plain socket to measure; the answer has its port.
        SOCKET(10);

        private static final Kind[] VALUES = values();

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        @Override
        public int code() {
            return code;
        }
    }

    static Signal of(Kind kind, long... numbers) {
        return new Signal(kind, Arrays.stream(numbers).boxed().toList(), "");
    }

    static Signal text(Kind kind, String text) {
        return new Signal(kind, List.of(), text);
    }

    /// Number `index`, or a failure when the peer sent fewer.
    long number(int index) {
        if (index >= numbers.size()) {
            throw unintelligible();
        }
        return numbers.get(index);
    }

    /// Writes it to the beginning of `into`.
    ///
    /// @return its length
    int write(MemorySegment into) {
        return new Frame(kind.code, numbers, text).write(into, MAGIC);
    }

    /// Reads what the peer sent; nothing in it is trusted.
    static Signal read(MemorySegment from) {
        Frame frame = Frame.read(from, MAGIC).orElseThrow(Signal::unintelligible);
        Kind kind = FrameKind.of(Kind.VALUES, frame.kind()).orElseThrow(Signal::unintelligible);
        return new Signal(kind, frame.numbers(), frame.text());
    }

    private static CommandFailure unintelligible() {
        return new CommandFailure("the peer speaks another language than rdmacomm bench of this version: "
                + "start `rdmacomm bench --server` there, of the same version");
    }
}
