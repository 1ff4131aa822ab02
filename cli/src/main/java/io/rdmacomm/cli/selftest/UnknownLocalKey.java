package io.rdmacomm.cli.selftest;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;

/// A WRITE from memory of this side with a key that its device does not know.
final class UnknownLocalKey extends FaultCheck {
    private static final int OTHER = 0x5a5a5a00;

    @Override
    public String name() {
        return "unknown local key";
    }

    @Override
    WorkStatus expected() {
        return WorkStatus.LOCAL_PROTECTION_ERROR;
    }

    /// As rxe says (`rxe_requester`).
    @Override
    WorkStatus alternative() {
        return WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
    }

    @Override
    boolean needsNoAnswer() {
        return false;
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        var source = pair.near().open();
        batch.write(id, pair.far().offer().open())
                .with(source.address(), 64, source.localKey() ^ OTHER)
                .signaled();
    }
}
