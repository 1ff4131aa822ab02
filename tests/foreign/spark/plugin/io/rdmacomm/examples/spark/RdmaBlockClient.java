package io.rdmacomm.examples.spark;

import io.rdmacomm.comm.*;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Stream;
import org.apache.spark.network.shuffle.*;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.storage.*;
import scala.Option;

/// Fetches the blocks of a reduce task by READ, and through Spark's client what RDMA cannot do: a failure here costs
/// time only. RDMA never declares a block lost; Spark's client does, so the scheduler sees what it always sees.
final class RdmaBlockClient extends BlockStoreClient {
    private static final String MARK = ";rdma=";
    private static final Duration ANSWER_TIME = Duration.ofSeconds(20);
    private static final long READ_SECONDS = 60;
    /// The answer fits into a message of the usual length, 16 KiB.
    private static final int MOST_BLOCKS = 16 * 1024 / MapOutputs.PLACE_BYTES;

    private final ShuffleNode node;
    private final BlockStoreClient spark;
    private final Map<String, Integer> ports = new HashMap<>();

    RdmaBlockClient(ShuffleNode node, BlockStoreClient spark) {
        this.node = node;
        this.spark = spark;
    }

    /// A location of map outputs that tells the port of its executor. No directory is needed: Spark compares these
    /// locations only with each other.
    static BlockManagerId withPort(BlockManagerId location, int port) {
        String topology = location.topologyInfo().getOrElse(() -> "") + MARK + port;
        return BlockManagerId.apply(location.executorId(), location.host(), location.port(), Option.apply(topology));
    }

    /// Finds the port in a location.
    ///
    /// @return what was known of this executor before; null if that is nothing
    Integer learn(BlockManagerId location) {
        String topology = location.topologyInfo().getOrElse(() -> "");
        int at = topology.lastIndexOf(MARK) + MARK.length();
        return at < MARK.length() ? null : ports.put(location.executorId(), Integer.valueOf(topology.substring(at)));
    }

    /// Blocks of one executor. Its steps run one after the other.
    ///
    /// @param left what the listener does not have yet
    private record Request(
            String host, int port, String executor, BlockFetchingListener listener, List<ShuffleBlockId> left) {}

    /// Never blocks. Spark bounds what is in flight.
    ///
    /// @param files for blocks that are longer than Spark wants to have in memory; otherwise null
    @Override
    public void fetchBlocks(String host, int port, String executor, String[] names, BlockFetchingListener listener,
            DownloadFileManager files) {
        List<ShuffleBlockId> blocks = Stream.of(names).map(BlockId::apply)
                .filter(ShuffleBlockId.class::isInstance).map(ShuffleBlockId.class::cast).toList();
        if (!ports.containsKey(executor) || files != null || blocks.size() < names.length) {
            spark.fetchBlocks(host, port, executor, names, listener, files);
            return;
        }
        for (int i = 0; i < blocks.size(); i += MOST_BLOCKS) {
            List<ShuffleBlockId> part = blocks.subList(i, Math.min(blocks.size(), i + MOST_BLOCKS));
            Request request = new Request(host, port, executor, listener, new ArrayList<>(part));
            node.peer(executor, host, ports.get(executor))
                    .thenComposeAsync(peer -> ask(peer, request), node.background)
                    .whenCompleteAsync((nothing, why) -> leave(request, why), node.background);
        }
    }

    private CompletionStage<Void> ask(EndPoint peer, Request request) {
        ByteBuffer question = ByteBuffer.allocate(request.left.size() * MapOutputs.BLOCK_BYTES);
        request.left.forEach(id -> question.putInt(id.shuffleId()).putLong(id.mapId()).putInt(id.reduceId()));
        return ((Requests) peer.attachment())
                .async(question.array(), ANSWER_TIME)
                .thenComposeAsync(answer -> fetch(peer, request, answer), node.background);
    }

    private CompletionStage<Void> fetch(EndPoint peer, Request request, Message answer) {
        Map<ShuffleBlockId, Piece> pieces = new LinkedHashMap<>();
        CompletableFuture<Void> done;
        try (answer) {
            List<Read> reads = reads(request.left, answer.segment().asByteBuffer(), pieces);
            done = peer.channel(0).async().read(reads);
            // A READ has no deadline. If the peer is silent, for example stopped, the connection is given up.
            done.copy().orTimeout(READ_SECONDS, TimeUnit.SECONDS).whenCompleteAsync((nothing, why) -> {
                if (why instanceof TimeoutException) {
                    peer.abort(1, new DeadlineException("the peer has ended no READ for too long", why));
                }
            }, node.background);
        } catch (RuntimeException e) {
            done = CompletableFuture.failedFuture(e);
        }
        return done.thenRunAsync(() -> deliver(request, pieces), node.background)
                .whenComplete((nothing, why) -> pieces.values().forEach(Piece::release));
    }

    /// READs of the blocks for which there is a place at the peer, and room in the pool.
    private List<Read> reads(List<ShuffleBlockId> blocks, ByteBuffer places, Map<ShuffleBlockId, Piece> pieces) {
        List<Read> reads = new ArrayList<>();
        for (ShuffleBlockId block : blocks) {
            long address = places.getLong();
            int key = places.getInt();
            long size = places.getLong();
            Piece piece = size == 0 ? null : node.pool.take(size);
            if (piece != null) {
                pieces.put(block, piece);
                RemoteBuffer from = RemoteBuffer.of("block", address, size, key, Set.of(AccessFlag.REMOTE_READ));
                reads.add(new Read(piece.slice(), from, 0));
            }
        }
        return reads;
    }

    /// The listener retains what it keeps.
    private void deliver(Request request, Map<ShuffleBlockId, Piece> pieces) {
        pieces.forEach((block, piece) -> {
            request.left.remove(block);
            node.blocksByRead.increment();
            request.listener.onBlockFetchSuccess(block.name(), new PieceBuffer(piece));
        });
    }

    private void leave(Request request, Throwable why) {
        if (!request.left.isEmpty()) {
            logger.warn(request.left.size() + " blocks of executor " + request.executor + " by TCP", why);
            String[] names = request.left.stream().map(ShuffleBlockId::name).toArray(String[]::new);
            spark.fetchBlocks(request.host, request.port, request.executor, names, request.listener, null);
        }
    }

    /// Asks by TCP.
    @Override
    public Cause diagnoseCorruption(String host, int port, String executor, int shuffle, long map, int partition,
            long checksum, String algorithm) {
        return spark.diagnoseCorruption(host, port, executor, shuffle, map, partition, checksum, algorithm);
    }

    /// Spark's client belongs to the block manager.
    @Override
    public void close() {}
}
