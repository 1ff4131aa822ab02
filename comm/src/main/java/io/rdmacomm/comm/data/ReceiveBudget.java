package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.RdmaException;

/// Divides the receives of a shared pool among channels. Plain arithmetic, guarded by the lock of the pool.
///
/// Each channel is guaranteed a few receives, which are reserved for the maximum number of channels. The others are
/// lent. A channel may borrow as long as it has borrowed less than is left: the dynamic threshold of shared buffers
/// in switches (Choudhury and Hahne, 1998). So one channel never has more than half of the lendable receives, and
/// something is left for every other channel.
final class ReceiveBudget {
    private static final int LITTLE = 4;

    private final int receives;
    private final int channels;
    private final int guaranteed;
    private int open;
    private int held;
    private int lent;

    /// @param receives in the pool
    /// @param channels the maximum number
    /// @param guaranteed how many receives each has at least
    ReceiveBudget(int receives, int channels, int guaranteed) {
        this.receives = receives;
        this.channels = channels;
        this.guaranteed = guaranteed;
    }

    /// Gives a new channel its guaranteed receives.
    ///
    /// @param most how many it may have
    /// @throws RdmaException if there are none for it
    ReceiveClaim admit(int most) {
        if (open >= channels) {
            throw new RdmaException(
                    "the shared receives have no room for another channel: " + open + " of " + channels
                            + " are open; close channels, or raise SharedReceives.channels",
                    null);
        }
        if (lendable() + (channels - open - 1) * guaranteed < 0) {
            throw new RdmaException(
                    "messages of other channels hold all shared receives; close messages that were received", null);
        }
        ReceiveClaim claim = new ReceiveClaim(most);
        claim.window = guaranteed;
        claim.held = guaranteed;
        held += guaranteed;
        open++;
        return claim;
    }

    /// The number of receives that are not committed to a channel, and may be given to one, if `unposted` receives are
    /// not posted.
    int uncommitted(int unposted) {
        return receives - unposted - held;
    }

    /// The number of receives that can still be lent.
    int lendable() {
        return receives - channels * guaranteed - lent;
    }

    /// Whether doubling the window of a channel would take little of what is left: then the channel gets the larger
    /// window without showing demand.
    boolean hasPlentyFor(ReceiveClaim claim) {
        return (2L * claim.window - guaranteed) * LITTLE <= lendable();
    }

    /// The number of receives lent to channels, kept messages included.
    int lent() {
        return lent;
    }

    /// The number of open channels.
    int open() {
        return open;
    }

    /// Whether a channel may have one more receive.
    boolean mayGive(ReceiveClaim claim) {
        int borrowed = claim.held - guaranteed;
        return !claim.ended && claim.held < claim.window && (borrowed < 0 || borrowed < lendable());
    }

    /// Gives a channel one more receive.
    void give(ReceiveClaim claim) {
        lent += claim.held >= guaranteed ? 1 : 0;
        claim.held++;
        held++;
    }

    /// A channel has returned a receive.
    void takeBack(ReceiveClaim claim) {
        claim.held--;
        held--;
        lent -= claim.ended || claim.held >= guaranteed ? 1 : 0;
    }

    /// A channel has ended. Its peer can no longer use the receives that it was granted; its messages stay.
    ///
    /// @param unused receives that its peer has not used
    void end(ReceiveClaim claim, int unused) {
        lent -= Math.max(0, claim.held - guaranteed);
        claim.held -= unused;
        held -= unused;
        lent += claim.held;
        claim.ended = true;
        open--;
    }
}
