package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.setup.Greeting;
import io.rdmacomm.comm.setup.Protocol;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.comm.setup.Terms;

/// The part of HELLO that is the same in all versions: its first three numbers are the lowest and the highest version
/// that a side speaks, and its features.
///
/// @param own the greeting of this side
record CopyGreeting(Greeting own) {
    /// The greeting of this release.
    static final CopyGreeting RELEASE = new CopyGreeting(new Greeting(Protocol.FILE_COPY, 1, 1, 0));

    /// Where the number of the chunk size is in the HELLO of a sender; that of the depth follows.
    private static final int CHUNK = 3;

    /// The HELLO of a sender that wants at most this ring.
    Frame<CopyMessage> ask(RingSize wish) {
        return Frame.of(CopyMessage.HELLO, own.lowest(), own.highest(), own.features(), wish.chunk(), wish.depth());
    }

    /// The HELLO of a receiver.
    Frame<CopyMessage> answer() {
        return Frame.of(CopyMessage.HELLO, own.lowest(), own.highest(), own.features());
    }

    /// Chooses the version and the features that both sides use.
    ///
    /// @param hello the first message of the peer
    /// @param peer its name in messages
    /// @throws CommandFailure if it is not a HELLO
    /// @throws SetupException OTHER_VERSION if there is no common version; the message names those of both sides
    Terms agree(Frame<CopyMessage> hello, String peer) {
        if (hello.kind() != CopyMessage.HELLO) {
            throw CopyMessage.CODEC.protocolError();
        }
        Greeting theirs;
        try {
            theirs = Greeting.of(Protocol.FILE_COPY, hello.number(0), hello.number(1), hello.number(2));
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(peer + " sent an invalid greeting: " + e.getMessage(), e);
        }
        return own.agree(theirs, peer);
    }

    /// The ring that a sender asks for.
    ///
    /// @throws CommandFailure if it is too large or empty
    static RingSize wish(Frame<CopyMessage> hello) {
        return RingSize.of(hello.number(CHUNK), hello.number(CHUNK + 1));
    }
}
