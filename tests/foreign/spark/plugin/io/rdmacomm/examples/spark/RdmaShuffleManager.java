package io.rdmacomm.examples.spark;

import java.io.File;
import java.io.IOException;
import java.util.stream.Stream;
import org.apache.spark.*;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.*;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/// Spark's sort shuffle, whose reducers READ blocks out of the memory of the mappers. Files, formats, sorting and
/// spilling are Spark's. Set `spark.shuffle.manager` to the name of this class. `spark.shuffle.rdma.device` is the RDMA
/// device, and `spark.shuffle.rdma.memory` (4g) is the most that an executor registers.
public final class RdmaShuffleManager extends SortShuffleManager {
    private final SparkConf conf;
    private ShuffleNode node;
    private boolean tried;

    /// Spark calls this, in the driver and in each executor.
    public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
        super(conf);
        this.conf = conf;
        this.tried = isDriver || needsEncryption(conf);
    }

    /// RDMA does not encrypt, so the wire needs TCP, unless the blocks themselves are encrypted.
    private static boolean needsEncryption(SparkConf conf) {
        boolean wire = Stream.of("network.crypto.enabled", "authenticate.enableSaslEncryption", "ssl.rpc.enabled")
                .anyMatch(key -> conf.getBoolean("spark." + key, false));
        return wire && !conf.getBoolean("spark.io.encryption.enabled", false);
    }

    /// The node of this executor, which the first task makes; null if everything stays with TCP.
    private synchronized ShuffleNode node() {
        if (!tried) {
            tried = true;
            try {
                node = new ShuffleNode(conf, SparkEnv.get());
            } catch (RuntimeException | LinkageError e) {
                log().warn("the shuffle of this executor stays with TCP", e);
            }
        }
        return node;
    }

    @Override
    public <K, V> ShuffleWriter<K, V> getWriter(
            ShuffleHandle handle, long map, TaskContext context, ShuffleWriteMetricsReporter metrics) {
        ShuffleWriter<K, V> writer = super.getWriter(handle, map, context, metrics);
        ShuffleNode mine = node();
        return mine == null ? writer : new ShuffleWriter<>() {
            @Override
            public void write(Iterator<Product2<K, V>> records) throws IOException {
                writer.write(records);
            }

            @Override
            public Option<MapStatus> stop(boolean success) {
                Option<MapStatus> committed = writer.stop(success);
                committed.foreach(status -> offer(mine, handle.shuffleId(), map, getPartitionLengths(), status));
                return committed;
            }

            @Override
            public long[] getPartitionLengths() {
                return writer.getPartitionLengths();
            }
        };
    }

    private Void offer(ShuffleNode mine, int shuffle, long map, long[] lengths, MapStatus status) {
        File data = shuffleBlockResolver().getDataFile(shuffle, map);
        try {
            if (mine.outputs.add(shuffle, map, data, lengths)) {
                status.updateLocation(RdmaBlockClient.withPort(status.location(), mine.session.port()));
            }
        } catch (IOException | RuntimeException e) {
            log().warn("{} stays with TCP", data, e);
        }
        return null;
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(ShuffleHandle handle, int startMap, int endMap, int start, int end,
            TaskContext context, ShuffleReadMetricsReporter metrics) {
        @SuppressWarnings("unchecked")
        ShuffleDependency<K, ?, C> dependency = ((BaseShuffleHandle<K, ?, C>) handle).dependency();
        ShuffleNode mine = node();
        // Blocks that were pushed and merged are not in map outputs.
        if (mine == null || dependency.shuffleMergeEnabled()) {
            return super.getReader(handle, startMap, endMap, start, end, context, metrics);
        }
        var places = SparkEnv.get().mapOutputTracker()
                .getMapSizesByExecutorId(handle.shuffleId(), startMap, endMap, start, end);
        return new RdmaShuffleReader<>(mine, dependency, places, context, metrics);
    }

    @Override
    public synchronized boolean unregisterShuffle(int shuffle) {
        if (node != null) {
            node.outputs.remove(shuffle);
        }
        return super.unregisterShuffle(shuffle);
    }

    @Override
    public synchronized void stop() {
        tried = true;
        if (node != null) {
            node.session.close();
            node = null;
        }
        super.stop();
    }
}
