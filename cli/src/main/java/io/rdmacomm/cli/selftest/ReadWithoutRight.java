package io.rdmacomm.cli.selftest;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;

/// A READ of memory without REMOTE_READ.
final class ReadWithoutRight extends FaultCheck {
    @Override
    public String name() {
        return "READ without the right";
    }

    @Override
    WorkStatus expected() {
        return WorkStatus.REMOTE_ACCESS_ERROR;
    }

    @Override
    boolean needsNoAnswer() {
        return false;
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        batch.read(id, pair.far().offer().closed())
                .with(pair.near().open(), 0, 64)
                .signaled();
    }
}
