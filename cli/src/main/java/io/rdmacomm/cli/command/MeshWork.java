package io.rdmacomm.cli.command;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.NodeFailedException;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Runs a node of a mesh. Other nodes may be processes of this program.
public final class MeshWork {
    private static final Duration BLAME = Duration.ofSeconds(5);
    private static final Duration MOMENT = Duration.ofSeconds(2);
    private static final long PAUSE_NANOS = 1_000_000;

    private MeshWork() {}

    /// Joins the mesh. If that fails because of a node on this host, reports that node's failure.
    public static Mesh join(Rendezvous rendezvous, SessionOptions options, Duration timeout, LocalNodes others) {
        Thread joining = Thread.currentThread();
        AtomicBoolean inJoin = new AtomicBoolean(true);
        others.onFailure(() -> {
            if (inJoin.compareAndSet(true, false)) {
                joining.interrupt();
            }
        });
        try {
            return Mesh.join(rendezvous, options, timeout);
        } catch (RdmaException e) {
            // A node may notice that another one has left before that one has reported why.
            String why = others.failure(isRefused(e) ? MOMENT : Duration.ZERO);
            throw why == null ? e : new CommandFailure(why, e);
        } finally {
            if (!inJoin.compareAndSet(true, false)) {
                // The interrupt may still be on its way. Wait for it and clear it, because it is no longer needed.
                while (!Thread.interrupted()) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    private static boolean isRefused(RdmaException e) {
        return e instanceof SetupFailedException failed
                && (failed.reason() == Reason.REFUSED || failed.reason() == Reason.BUSY);
    }

    /// Runs the work of this node. A failure on this node ends all others, and one on another node ends this one.
    ///
    /// @throws NodeFailedException if another node has failed
    public static <T> T run(Mesh mesh, Supplier<T> work) {
        try {
            return work.get();
        } catch (RdmaException e) {
            NodeFailedException lost = awaitFailure(mesh);
            mesh.abort(FailureText.of(e));
            throw lost == null ? e : lost;
        } catch (RuntimeException e) {
            mesh.abort(FailureText.of(e));
            throw e;
        }
    }

    /// Waits for the mesh to report a failed node: a failed call may notice it earlier than the mesh.
    private static @Nullable NodeFailedException awaitFailure(Mesh mesh) {
        long deadline = System.nanoTime() + BLAME.toNanos();
        while (mesh.failure() == null && deadline - System.nanoTime() > 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return mesh.failure();
    }
}
