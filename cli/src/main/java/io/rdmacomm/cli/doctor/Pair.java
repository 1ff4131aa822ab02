package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Route;
import java.net.InetSocketAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Two ends of a connection.
final class Pair implements AutoCloseable {
    private final CheckSetup setup;
    private final QueuePairEnd near;
    private final PeerEnd far;
    private @Nullable ConnectionManager manager;

    private Pair(CheckSetup setup, QueuePairEnd near, PeerEnd far) {
        this.setup = setup;
        this.near = near;
        this.far = far;
    }

    /// Creates two ends that are not connected.
    static Pair open(CheckSetup setup, EndPlan nearPlan, EndPlan farPlan) {
        PeerEnd far = setup.peer().open(farPlan);
        return OnFailure.run(
                far::close, () -> new Pair(setup, new QueuePairEnd(setup.context(), setup.how(), nearPlan), far));
    }

    /// Creates two connected ends.
    static Pair connected(CheckSetup setup, EndPlan nearPlan, EndPlan farPlan) throws InterruptedException {
        Pair pair = open(setup, nearPlan, farPlan);
        return OnFailure.run(pair::close, pair::connect);
    }

    private Pair connect() throws InterruptedException {
        InetSocketAddress address = far.offer().address();
        if (address == null) {
            far.connect(near.info());
            connectNear();
        } else {
            manager = ConnectionManager.open(setup.context());
            IdentifierOptions identifier = IdentifierOptions.of(near.how().path());
            try (Route route = manager.resolve(address, identifier, setup.timeout())) {
                var _ = route.connect(near.queuePair(), ConnectionParameters.of(near.how()), setup.timeout());
            }
            far.awaitAccepted();
            near.postReceives();
        }
        return this;
    }

    /// Connects only the near end, by numbers.
    Pair connectNear() {
        near.connect(far.offer().numbers());
        return this;
    }

    QueuePairEnd near() {
        return near;
    }

    PeerEnd far() {
        return far;
    }

    /// Waits for the status of the request with this number.
    ///
    /// @throws CheckFailure if it does not complete in time
    WorkStatus end(long id) throws InterruptedException {
        Map<Long, WorkStatus> ends = near.collect(all -> all.containsKey(id), setup.timeout());
        WorkStatus status = ends.get(id);
        if (status == null) {
            throw new CheckFailure(
                    "a completion", "none came within " + setup.timeout().toSeconds() + " s");
        }
        return status;
    }

    /// Writes 8 bytes to the peer, and waits for the completion.
    ///
    /// @throws CheckFailure if that fails
    void write() throws InterruptedException {
        near.request().write(0, far.offer().open()).with(near.open(), 0, 8).signaled();
        near.post();
        WorkStatus status = end(0);
        if (status != WorkStatus.SUCCESS) {
            throw new CheckFailure("a WRITE to succeed", "it completed with " + status);
        }
    }

    @Override
    public void close() {
        try (far;
                near) {
            if (manager != null) {
                manager.close();
            }
        }
    }
}
