package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.comm.SetupFailedException;

/// The part of HELLO that is the same in all versions. Its first three numbers are the lowest and the highest
/// version that a side supports, and its features.
///
/// @param lowest the lowest version, from 1
/// @param highest the highest version, at most 65,535
/// @param features a bit for each feature; those unknown to the peer are not used
record CopyGreeting(int lowest, int highest, long features) {
    /// The greeting of this release.
    static final CopyGreeting RELEASE = new CopyGreeting(1, 1, 0);

    private static final int MAX_VERSION = 0xffff;
    /// The index of the chunk size in a sender's HELLO; the depth follows it.
    private static final int CHUNK = 3;

    /// The HELLO of a sender that wants a ring of at most this size.
    Frame<CopyMessage> ask(RingSize wish) {
        return Frame.of(CopyMessage.HELLO, lowest, highest, features, wish.chunk(), wish.depth());
    }

    /// The HELLO of a receiver.
    Frame<CopyMessage> answer() {
        return Frame.of(CopyMessage.HELLO, lowest, highest, features);
    }

    /// Chooses the version and the features that both sides use.
    ///
    /// @param hello the first message of the peer
    /// @param peer its name in messages
    /// @return the chosen version, as the lowest and the highest, and the common features
    /// @throws CommandFailure if it is not a HELLO
    /// @throws SetupFailedException OTHER_VERSION if there is no common version; the message names those of both
    ///         sides
    CopyGreeting agree(Frame<CopyMessage> hello, String peer) {
        if (hello.kind() != CopyMessage.HELLO) {
            throw CopyMessage.CODEC.protocolError();
        }
        CopyGreeting theirs =
                new CopyGreeting(version(hello.number(0), 1, peer), version(hello.number(1), 1, peer), hello.number(2));
        version(theirs.highest, theirs.lowest, peer);
        int common = Math.min(highest, theirs.highest);
        if (common < Math.max(lowest, theirs.lowest)) {
            throw new SetupFailedException(
                    SetupFailedException.Reason.OTHER_VERSION,
                    peer + " speaks " + theirs.versions() + " of the file copy protocol, this side " + versions()
                            + "; update rdmacomm on " + (highest < theirs.lowest ? "this side" : peer),
                    null);
        }
        return new CopyGreeting(common, common, features & theirs.features);
    }

    private static int version(long number, int lowest, String peer) {
        if (number < lowest || number > MAX_VERSION) {
            throw new CommandFailure(peer + " sent an invalid greeting: a version is " + number + ", must be " + lowest
                    + " to " + MAX_VERSION);
        }
        return (int) number;
    }

    private String versions() {
        return lowest == highest ? "version " + lowest : "versions " + lowest + " to " + highest;
    }

    /// The ring that a sender asks for.
    ///
    /// @throws CommandFailure if it is too large or empty
    static RingSize wish(Frame<CopyMessage> hello) {
        return RingSize.of(hello.number(CHUNK), hello.number(CHUNK + 1));
    }
}
