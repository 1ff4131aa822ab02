package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;

/// A SEND to a queue pair that does not answer, because it is not connected.
final class Unanswered extends FaultCheck {
    private static final int RETRIES = 1;

    Unanswered() {
        super("no answer", WorkStatus.RETRY_EXCEEDED, null, true);
    }

    @Override
    String unsupportedReason(CheckSetup setup) {
        return setup.byAddress() ? "a connection by address needs a peer that answers" : "";
    }

    @Override
    ConnectionOptions how(ConnectionOptions usual) {
        RetryOptions given = usual.retries();
        return usual.withRetries(given.withTimeout(given.timeout(), RETRIES));
    }

    @Override
    Pair pair(CheckSetup setup) {
        Pair pair = Pair.open(setup, EndPlan.usual().withReceives(0, 64), farPlan());
        return OnFailure.run(pair::close, pair::connectNear);
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        batch.send(id).with(pair.near().open(), 0, 8).signaled();
    }
}
