package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A SEND that is longer than the peer's receive.
final class TooLongMessage extends FaultCheck {
    private static final int RECEIVE_BYTES = 64;

    TooLongMessage() {
        // rxe reports REMOTE_OPERATION_ERROR (`rxe_responder`).
        super(
                "message longer than receive",
                WorkStatus.REMOTE_INVALID_REQUEST,
                WorkStatus.REMOTE_OPERATION_ERROR,
                true);
    }

    @Override
    EndPlan farPlan() {
        return EndPlan.usual().withReceives(1, RECEIVE_BYTES);
    }

    @Override
    void add(SendBatch batch, long id, Pair pair) {
        batch.send(id).with(pair.near().open(), 0, 2 * RECEIVE_BYTES).signaled();
    }

    @Override
    void verify(Pair pair, CheckSetup setup) {
        super.verify(pair, setup);
        List<WorkStatus> receives = pair.far().receives(1, setup.timeout());
        WorkStatus status = receives.isEmpty() ? null : receives.getFirst();
        if (!isRejection(status) && !(setup.isIwarp() && status == WorkStatus.FLUSHED)) {
            throw new CheckFailure(
                    "LOCAL_LENGTH_ERROR at the peer", status == null ? "nothing completed there" : "it has " + status);
        }
    }

    /// rxe completes the receive with LOCAL_QUEUE_PAIR_ERROR.
    private static boolean isRejection(@Nullable WorkStatus status) {
        return status == WorkStatus.LOCAL_LENGTH_ERROR || status == WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
    }
}
