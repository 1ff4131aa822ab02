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
    private final Scene scene;
    private final QueuePairEnd near;
    private final Far far;
    private @Nullable ConnectionManager manager;

    private Pair(Scene scene, QueuePairEnd near, Far far) {
        this.scene = scene;
        this.near = near;
        this.far = far;
    }

    /// Makes two ends that are not connected.
    static Pair open(Scene scene, EndPlan nearPlan, EndPlan farPlan) {
        Far far = scene.peer().open(farPlan);
        return OnFailure.run(
                far::close, () -> new Pair(scene, new QueuePairEnd(scene.context(), scene.how(), nearPlan), far));
    }

    /// Makes two ends that are connected.
    static Pair connected(Scene scene, EndPlan nearPlan, EndPlan farPlan) throws InterruptedException {
        Pair pair = open(scene, nearPlan, farPlan);
        return OnFailure.run(pair::close, pair::connect);
    }

    private Pair connect() throws InterruptedException {
        InetSocketAddress address = far.offer().address();
        if (address == null) {
            far.connect(near.info());
            connectNear();
        } else {
            manager = ConnectionManager.open(scene.context());
            IdentifierOptions identifier = IdentifierOptions.of(near.how().path());
            try (Route route = manager.resolve(address, identifier, scene.patience())) {
                var _ = route.connect(near.queuePair(), ConnectionParameters.of(near.how()), scene.patience());
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

    Far far() {
        return far;
    }

    /// The status of the request with this number. Waits for it.
    ///
    /// @throws CheckFailure if it did not end in time
    WorkStatus end(long id) throws InterruptedException {
        Map<Long, WorkStatus> ends = near.collect(all -> all.containsKey(id), scene.patience());
        WorkStatus status = ends.get(id);
        if (status == null) {
            throw new CheckFailure(
                    "a completion", "none came within " + scene.patience().toSeconds() + " s");
        }
        return status;
    }

    /// Writes 8 bytes to the peer, and waits until it is done.
    ///
    /// @throws CheckFailure if that fails
    void write() throws InterruptedException {
        near.request().write(0, far.offer().open()).with(near.open(), 0, 8).signaled();
        near.post();
        WorkStatus status = end(0);
        if (status != WorkStatus.SUCCESS) {
            throw new CheckFailure("a WRITE to succeed", "it ended as " + status);
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
