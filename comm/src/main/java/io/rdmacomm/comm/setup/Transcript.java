package io.rdmacomm.comm.setup;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;

/// The payloads of the first frames as sent, to prove that both sides have seen the same.
///
/// @param said the payloads in order; their positions and limits do not change
record Transcript(List<ByteBuffer> said) {
    Transcript(ByteBuffer... said) {
        this(List.of(said));
    }

    /// The same with two more.
    Transcript with(ByteBuffer next, ByteBuffer last) {
        return new Transcript(
                Stream.concat(said.stream(), Stream.of(next, last)).toList());
    }

    /// All payloads, each after its length, so that their boundaries are unambiguous.
    byte[] bytes() {
        ByteBuffer all = ByteBuffer.allocate(
                said.stream().mapToInt(each -> Integer.BYTES + each.remaining()).sum());
        said.forEach(each -> all.putInt(each.remaining()).put(each.duplicate()));
        return all.array();
    }
}
