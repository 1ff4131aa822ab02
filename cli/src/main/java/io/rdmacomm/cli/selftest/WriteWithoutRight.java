package io.rdmacomm.cli.selftest;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;

/// A WRITE to memory without REMOTE_WRITE.
final class WriteWithoutRight extends FaultCheck {
    @Override
    public String name() {
        return "WRITE without the right";
    }

    @Override
    WorkStatus expected() {
        return WorkStatus.REMOTE_ACCESS_ERROR;
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        batch.write(id, pair.far().offer().closed())
                .with(pair.near().open(), 0, 64)
                .signaled();
    }
}
