package io.rdmacomm.fault;

import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;

/// Stands for a shared receive queue. Rules are not about its receives, which belong to no queue pair yet.
final class FaultSharedReceiveQueue extends SharedReceiveQueue {
    private final FaultContext context;
    private final SharedReceiveQueue real;

    FaultSharedReceiveQueue(
            FaultContext context,
            FaultProtectionDomain domain,
            SharedReceiveQueueOptions options,
            SharedReceiveQueue real) {
        super(domain, options);
        this.context = context;
        this.real = real;
    }

    SharedReceiveQueue real() {
        return real;
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        return real.post(batch, first + count);
    }

    @Override
    protected void doArmLimit(int limit) {
        real.armLimit(limit);
    }

    @Override
    protected void doResize(int receives) {
        real.resize(receives);
    }

    @Override
    protected SharedReceiveQueueOptions doQuery() {
        return real.query();
    }

    @Override
    protected void doDestroy() {
        context.forget(real);
        real.close();
    }
}
