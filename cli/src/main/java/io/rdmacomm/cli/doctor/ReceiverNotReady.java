package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;

/// A SEND to a peer that has no receive posted.
final class ReceiverNotReady extends FaultCheck {
    private static final Duration PAUSE = Duration.ofMillis(1);

    ReceiverNotReady() {
        super("no receive posted", WorkStatus.RECEIVER_NOT_READY_EXCEEDED, null, true);
    }

    @Override
    String unsupportedReason(CheckSetup setup) {
        return setup.supports(Capability.RECEIVER_NOT_READY)
                ? ""
                : "without RNR, a message without a posted receive ends the connection (RFC 5041, section 7.1)";
    }

    @Override
    EndPlan farPlan() {
        return EndPlan.usual().withReceives(0, 64);
    }

    @Override
    ConnectionOptions how(ConnectionOptions usual) {
        return usual.withRetries(usual.retries().withReceiverNotReady(1, PAUSE));
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        batch.send(id).with(pair.near().open(), 0, 8).signaled();
    }
}
