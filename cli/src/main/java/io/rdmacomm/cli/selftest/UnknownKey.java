package io.rdmacomm.cli.selftest;

import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;

/// A WRITE with a key that the peer does not know.
final class UnknownKey extends FaultCheck {
    private static final int OTHER = 0x5a5a5a00;

    @Override
    public String name() {
        return "unknown remote key";
    }

    @Override
    WorkStatus expected() {
        return WorkStatus.REMOTE_ACCESS_ERROR;
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        RemoteMemory memory = pair.far().offer().closed();
        batch.write(id, new RemoteMemory(memory.address(), memory.length(), memory.key() ^ OTHER))
                .with(pair.near().open(), 0, 64)
                .signaled();
    }
}
