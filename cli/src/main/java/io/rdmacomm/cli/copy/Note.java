package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameKind;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/// What the two ends of a file copy tell each other besides the data, as frames with the magic "RCF1".
///
/// ```
/// sender                              receiver
/// HELLO version, chunk, depth   ->
///                               <-    HELLO version, chunk, depth; "name of the buffer that it has announced"
/// OFFER number, size, mode, time; "name"  ->
///                               <-    ACCEPT number, or REFUSE number; "why"
/// data, chunk by chunk; DATA block, length  ->
///                               <-    CREDIT chunks, or FAILED number; "why"
/// END number, CRC32C; or ABORT number; "why"  ->
///                               <-    DONE number, or FAILED number; "why"
/// ```
///
/// @param kind what it means
/// @param numbers what belongs to it
/// @param text a name or a reason
record Note(Kind kind, List<Long> numbers, String text) {
    /// What marks these frames.
    static final int MAGIC = 0x52434631;

    /// The version of this protocol.
    static final long VERSION = 2;

    /// What a note means.
    enum Kind implements FrameKind {
        /// Who speaks, and how the data will come.
        HELLO(1),
        /// The sender has a file.
        OFFER(2),
        /// The receiver takes it.
        ACCEPT(3),
        /// The receiver does not take it.
        REFUSE(4),
        /// All data of the file has been sent.
        END(5),
        /// The sender cannot send the rest.
        ABORT(6),
        /// The file is complete under its name.
        DONE(7),
        /// The receiver could not keep the file.
        FAILED(8),
        /// The receiver has room for more chunks.
        CREDIT(9),
        /// A chunk of data has come; over RDMA with the block that it is in and its length.
        DATA(10);

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

    static Note of(Kind kind, long... numbers) {
        return new Note(kind, Arrays.stream(numbers).boxed().toList(), "");
    }

    static Note of(Kind kind, String text, long... numbers) {
        return new Note(kind, Arrays.stream(numbers).boxed().toList(), text);
    }

    /// Number `index`, or a failure when the peer sent fewer.
    long number(int index) {
        if (index >= numbers.size()) {
            throw unintelligible();
        }
        return numbers.get(index);
    }

    int write(MemorySegment into) {
        return new Frame(kind.code, numbers, text).write(into, MAGIC);
    }

    /// Reads what the peer sent; nothing in it is trusted.
    static Note read(MemorySegment from) {
        Frame frame = Frame.read(from, MAGIC).orElseThrow(Note::unintelligible);
        Kind kind = FrameKind.of(Kind.VALUES, frame.kind()).orElseThrow(Note::unintelligible);
        return new Note(kind, frame.numbers(), frame.text());
    }

    static CommandFailure unintelligible() {
        return new CommandFailure("the peer speaks another language than the file copy of this version: "
                + "run `rdmacomm recv` there, of the same version and with the same --transport");
    }
}
