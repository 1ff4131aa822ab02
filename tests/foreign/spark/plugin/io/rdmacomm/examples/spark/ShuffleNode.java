package io.rdmacomm.examples.spark;

import io.rdmacomm.comm.*;
import io.rdmacomm.verbs.RdmaException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.*;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The RDMA session of an executor, with one connection to each other executor, over which both ask and READ. The one
/// with the lower name makes it. If the other one needs it first, it waits a moment, and then makes it. Thread-safe.
final class ShuffleNode implements SessionListener {
    private static final Logger LOG = LoggerFactory.getLogger(ShuffleNode.class);
    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final long HEAD_START_MILLIS = 500;
    private static final long AVOID_MILLIS = 30_000;

    /// Its threads may block.
    final Executor background = Executors.newVirtualThreadPerTaskExecutor();
    final ServerSession session;
    final BufferPool pool;
    final MapOutputs outputs;
    final LongAdder blocksByRead = new LongAdder();
    private final String application;
    private final Map<String, CompletableFuture<EndPoint>> peers = new ConcurrentHashMap<>();

    ShuffleNode(SparkConf conf, SparkEnv env) {
        application = conf.getAppId();
        long memory = conf.getSizeAsBytes("spark.shuffle.rdma.memory", "4g");
        SessionOptions options = SessionOptions.defaults()
                .withName(name(env.executorId()))
                .withDevice(conf.get("spark.shuffle.rdma.device", ""))
                .withHost(env.blockManager().blockManagerId().host())
                .withPort(0)
                .withCompletionThreads(Math.clamp(Runtime.getRuntime().availableProcessors() / 4, 1, 4))
                .withSharedReceives(SharedReceives.of(1024, 512))
                .withMemoryLimit(memory)
                .withListener(this);
        String secret = env.securityManager().getSecretKey();
        session = ServerSession.listen(
                secret == null ? options : options.withSecret(Secret.of(secret.getBytes(StandardCharsets.UTF_8))));
        // Map outputs stay until the shuffle ends. They must leave room to read those of others.
        pool = session.pool("blocks", PoolOptions.of(memory / 4));
        outputs = new MapOutputs(session, memory / 4 * 3);
        LOG.info("{} listens on port {}, device {}", session, session.port(), session.context());
    }

    /// No two executors of an application have the same identifier, so nobody takes another process for a peer.
    private String name(String executor) {
        return application + "-executor-" + executor;
    }

    /// The connection to an executor, with its [Requests] attached. Never blocks. For a while after the executor could
    /// not be reached, the future has failed.
    CompletableFuture<EndPoint> peer(String executor, String host, int port) {
        return peers.compute(
                name(executor), (name, known) -> isCurrent(known) ? known : connecting(name, host, port));
    }

    private static boolean isCurrent(CompletableFuture<EndPoint> peer) {
        return peer != null
                && (!peer.isDone() || peer.isCompletedExceptionally() || peer.join().state() == EndPointState.READY);
    }

    private CompletableFuture<EndPoint> connecting(String name, String host, int port) {
        CompletableFuture<EndPoint> peer = new CompletableFuture<>();
        later(isBehind(name) ? HEAD_START_MILLIS : 0, () -> connect(name, host, port, peer));
        return peer;
    }

    private void later(long millis, Runnable task) {
        CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS, background).execute(task);
    }

    private boolean isBehind(String name) {
        return session.name().compareTo(name) > 0;
    }

    private void connect(String name, String host, int port, CompletableFuture<EndPoint> peer) {
        if (peer.isDone()) {
            return;
        }
        try {
            EndPoint endPoint = session.connect(host, port, CONNECT);
            endPoint.attach(Requests.on(endPoint.channel(0), outputs::answer));
            if (!endPoint.peerName().equals(name) || !peer.complete(endPoint)) {
                endPoint.close();
            }
            if (!peer.isDone()) {
                throw new IllegalStateException(endPoint.peerName() + " listens there now");
            }
        } catch (RuntimeException e) {
            LOG.warn("no RDMA to {} at {} port {} for {} ms", name, host, port, AVOID_MILLIS, e);
            peer.completeExceptionally(e);
            later(AVOID_MILLIS, () -> peers.remove(name, peer));
        }
    }

    /// Another executor has connected. If both do at the same time, both use the connection of the lower name.
    @Override
    public void onEndPoint(EndPoint endPoint) {
        endPoint.attach(Requests.on(endPoint.channel(0), outputs::answer));
        CompletableFuture<EndPoint> arrived = CompletableFuture.completedFuture(endPoint);
        CompletableFuture<EndPoint> known =
                peers.merge(endPoint.peerName(), arrived, (old, fresh) -> isCurrent(old) ? old : fresh);
        if (isBehind(endPoint.peerName())) {
            known.complete(endPoint);
        }
    }

    @Override
    public void onEnd(EndPoint endPoint, RdmaException failure) {
        LOG.info("{} has ended", endPoint, failure);
        endPoint.close();
    }
}
