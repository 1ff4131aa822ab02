package io.rdmacomm.examples.spark;

import java.io.InputStream;
import org.apache.spark.*;
import org.apache.spark.internal.config.package$;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.*;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.*;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/// Does what Spark's `BlockStoreShuffleReader` does, with the same iterator over blocks, but with another client behind
/// it: Spark's reader takes that of the block manager.
///
/// @param places the sizes of the blocks of each executor
record RdmaShuffleReader<K, C>(
        ShuffleNode node,
        ShuffleDependency<K, ?, C> dependency,
        Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> places,
        TaskContext context,
        ShuffleReadMetricsReporter metrics)
        implements ShuffleReader<K, C> {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleReader.class);

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public Iterator<Product2<K, C>> read() {
        SerializerInstance serializer = dependency.serializer().newInstance();
        Iterator records = streams()
                .flatMap(block -> serializer.deserializeStream(block._2()).asKeyValueIterator())
                .map(record -> {
                    metrics.incRecordsRead(1);
                    return record;
                });
        Iterator counted = CompletionIterator.apply(records, () -> {
            context.taskMetrics().mergeShuffleReadMetrics();
            LOG.info("blocks by READ: {}", node.blocksByRead);
            return BoxedUnit.UNIT;
        });
        Iterator result = new InterruptibleIterator(context, counted);
        if (dependency.aggregator().isDefined()) {
            result = dependency.mapSideCombine()
                    ? dependency.aggregator().get().combineCombinersByKey(result, context)
                    : dependency.aggregator().get().combineValuesByKey(result, context);
        }
        if (dependency.keyOrdering().isDefined()) {
            result = new ExternalSorter(context, Option.empty(), Option.empty(), dependency.keyOrdering(),
                            dependency.serializer(), ExternalSorter.$lessinit$greater$default$6())
                    .insertAllAndUpdateMetrics(result);
        }
        return result instanceof InterruptibleIterator ? result : new InterruptibleIterator(context, result);
    }

    private Iterator<Tuple2<BlockId, InputStream>> streams() {
        SparkEnv env = SparkEnv.get();
        SparkConf conf = env.conf();
        RdmaBlockClient client = new RdmaBlockClient(node, env.blockManager().blockStoreClient());
        var keys = package$.MODULE$;
        return new ShuffleBlockFetcherIterator(
                        context, client, env.blockManager(), env.mapOutputTracker(),
                        places.tapEach(place -> client.learn(place._1())),
                        (id, stream) -> env.serializerManager().wrapStream(id, stream),
                        (long) conf.get(keys.REDUCER_MAX_SIZE_IN_FLIGHT()) << 20,
                        (int) conf.get(keys.REDUCER_MAX_REQS_IN_FLIGHT()),
                        (int) conf.get(keys.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
                        (long) conf.get(keys.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
                        (int) conf.get(keys.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
                        (boolean) conf.get(keys.SHUFFLE_DETECT_CORRUPT()),
                        (boolean) conf.get(keys.SHUFFLE_DETECT_CORRUPT_MEMORY()),
                        (boolean) conf.get(keys.SHUFFLE_CHECKSUM_ENABLED()),
                        conf.get(keys.SHUFFLE_CHECKSUM_ALGORITHM()),
                        // No batches of neighbouring blocks: they have conditions, and a list of READs costs little.
                        metrics, false, new SystemClock())
                .toCompletionIterator();
    }
}
