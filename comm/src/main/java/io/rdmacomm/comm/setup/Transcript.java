package io.rdmacomm.comm.setup;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// The payloads of the first frames as sent, to prove that both sides have seen the same.
///
/// @param said the payloads in order; their positions and limits do not change
record Transcript(List<ByteBuffer> said) {
    Transcript(ByteBuffer... said) {
        this(List.of(said));
    }

    /// The same with two more.
    Transcript with(ByteBuffer next, ByteBuffer last) {
        List<ByteBuffer> more = new ArrayList<>(said);
        more.add(next);
        more.add(last);
        return new Transcript(List.copyOf(more));
    }

    /// All payloads, each after its length, so that their boundaries are unambiguous.
    byte[] bytes() {
        int length = 0;
        for (ByteBuffer each : said) {
            length += Integer.BYTES + each.remaining();
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        for (ByteBuffer each : said) {
            all.putInt(each.remaining()).put(each.duplicate());
        }
        return all.array();
    }
}
