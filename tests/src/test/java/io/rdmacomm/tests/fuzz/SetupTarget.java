package io.rdmacomm.tests.fuzz;

import io.rdmacomm.soft.iwarp.MpaException;
import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaFrameReader;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The request or reply that an MPA connection begins with, with the handshake of our own devices in it. The first byte
/// says which one it is, and how much comes at a time.
public final class SetupTarget {
    private static final MpaNegotiation OWN = new MpaNegotiation(true, 16, 16);

    private SetupTarget() {}

    /// One frame, to its end.
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        boolean reply = input[0] < 0;
        try {
            MpaFrame frame = read(input, reply ? MpaFrame.Kind.REPLY : MpaFrame.Kind.REQUEST, 1 + (input[0] & 0x7f));
            if (frame == null) {
                return;
            }
            if (reply) {
                OWN.initiatorTerms(OWN.request(new byte[0]), frame);
            } else {
                MpaNegotiation.check(frame);
                OWN.responderTerms(frame, OWN.acceptance(frame, new byte[0]));
                MpaNegotiation.rejection(frame, new byte[0]);
            }
            check(frame.privateData());
        } catch (MpaException e) {
            Checks.that(!e.violation().toString().isBlank(), "a violation without words");
        }
    }

    private static @Nullable MpaFrame read(byte[] input, MpaFrame.Kind kind, int atATime) throws MpaException {
        MpaFrameReader reader = new MpaFrameReader(kind);
        int at = 1;
        while (!reader.advance()) {
            ByteBuffer into = reader.buffer();
            Checks.that(into.hasRemaining(), "nothing is wanted, and it is not complete");
            int count = Math.min(into.remaining(), Math.min(atATime, input.length - at));
            if (count == 0) {
                return null;
            }
            into.put(input, at, count);
            at += count;
        }
        return reader.frame();
    }

    private static void check(byte[] privateData) {
        PeerHandshake peer = PeerHandshake.find(privateData);
        byte[] rest = PeerHandshake.withoutBlock(privateData);
        if (peer != null) {
            Checks.that(rest.length < privateData.length, "the block is still there");
            Checks.that(peer.equals(PeerHandshake.find(peer.appendTo(rest))), "it does not come back");
        }
    }
}
