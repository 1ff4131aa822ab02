import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import scala.Tuple2;

/// Jobs of Apache Spark whose data crosses the network between two executors, each a JVM of its own: `Shuffles [kill]`.
/// Prints a line for each job, with a checksum of everything that it has shuffled: the same one however the data was
/// sent; then how many tasks have failed, and how many blocks have come from the other executor. With `kill`, an
/// executor is killed in the middle of the last job, which Spark repeats where it has to.
public final class Shuffles {
    private static final int MAPS = 8;
    private static final int REDUCES = 8;
    private static final int VALUE_BYTES = 1000;
    private static final int KEYS = 10_000;
    private static final int RECORDS = 8_000;
    private static final long KILL_MILLIS = 300;

    private Shuffles() {}

    /// Two executors on this host. The environment has SPARK_HOME.
    ///
    /// @param classes the class path of the tasks
    public static JavaSparkContext open(String classes) {
        return new JavaSparkContext(new SparkConf()
                .setAppName("shuffles")
                .setMaster("local-cluster[2,1,1024]")
                .set("spark.ui.enabled", "false")
                .set("spark.executor.extraClassPath", classes)
                .set("spark.executor.extraJavaOptions", "-Dio.netty.transport.noNative=true")
                .set("spark.io.mode.default", "NIO")
                .set("spark.shuffle.io.mode", "NIO")
                .set("spark.rpc.io.mode", "NIO")
                .set("spark.shuffle.compress", "false")
                // On one host, executors would read the files of each other.
                .set("spark.shuffle.readHostLocalDisk", "false"));
    }

    /// The checksum of `records` values for each map task, grouped by key.
    public static long group(JavaSparkContext spark, int records) {
        return sum(data(spark, records, 1).groupByKey(REDUCES).map(group -> {
            long sum = 0;
            for (byte[] value : group._2()) {
                sum += hash(value);
            }
            return mix(group._1()) * 3 + sum;
        }));
    }

    /// The values that all map tasks of a job have.
    public static long values(int records) {
        return (long) MAPS * records;
    }

    private static long sort(JavaSparkContext spark) {
        return sum(data(spark, RECORDS, 2).sortByKey(true, REDUCES).mapPartitions(records -> {
            long sum = 0;
            long last = Long.MIN_VALUE;
            while (records.hasNext()) {
                Tuple2<Long, byte[]> each = records.next();
                if (each._1() < last) {
                    throw new AssertionError(each._1() + " comes after " + last);
                }
                last = each._1();
                sum += mix(last) * 3 + hash(each._2());
            }
            return List.of(sum).iterator();
        }));
    }

    private static long join(JavaSparkContext spark) {
        JavaPairRDD<Long, byte[]> left = data(spark, RECORDS / 8, 3);
        JavaPairRDD<Long, byte[]> right = data(spark, RECORDS / 8, 4);
        return sum(left.join(right, REDUCES)
                .map(both -> mix(both._1() ^ hash(both._2()._1()) * 5 + hash(both._2()._2()))));
    }

    private static long sum(JavaRDD<Long> numbers) {
        return numbers.reduce(Long::sum);
    }

    private static JavaPairRDD<Long, byte[]> data(JavaSparkContext spark, int records, long seed) {
        List<Integer> maps = IntStream.range(0, MAPS).boxed().toList();
        return spark.parallelize(maps, MAPS).flatMapToPair(map -> new Records(seed << 40 | (long) map << 32, records));
    }

    /// Records that follow from a number.
    private record Records(long seed, int[] left) implements Iterator<Tuple2<Long, byte[]>>, Serializable {
        Records(long seed, int count) {
            this(seed, new int[] {count});
        }

        @Override
        public boolean hasNext() {
            return left[0] > 0;
        }

        @Override
        public Tuple2<Long, byte[]> next() {
            long random = mix(seed + left[0]--);
            byte[] value = new byte[VALUE_BYTES];
            for (int i = 0; i < VALUE_BYTES; i++) {
                value[i] = (byte) (random >>> (i & 56) + i);
            }
            return new Tuple2<>(Long.remainderUnsigned(random, KEYS), value);
        }
    }

    private static long hash(byte[] value) {
        long sum = 0;
        for (byte each : value) {
            sum = sum * 31 + each;
        }
        return sum;
    }

    private static long mix(long number) {
        long mixed = (number ^ number >>> 33) * 0xff51afd7ed558ccdL;
        return mixed ^ mixed >>> 33;
    }

    /// Counts what the executors have done, and may kill one soon after the first stage that reads what another one has
    /// written.
    private static final class Watcher extends SparkListener {
        private boolean kills;
        private long failed;
        private long remoteBlocks;

        synchronized void kill() {
            kills = true;
        }

        @Override
        public synchronized void onStageSubmitted(SparkListenerStageSubmitted stage) {
            if (kills && stage.stageInfo().parentIds().nonEmpty()) {
                kills = false;
                Thread.ofPlatform().daemon().start(Watcher::killSoon);
            }
        }

        private static void killSoon() {
            try {
                TimeUnit.MILLISECONDS.sleep(KILL_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            ProcessHandle.current().descendants().findFirst().ifPresent(ProcessHandle::destroyForcibly);
        }

        @Override
        public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
            if (!end.taskInfo().successful()) {
                failed++;
            }
            if (end.taskMetrics() != null) {
                remoteBlocks += end.taskMetrics().shuffleReadMetrics().remoteBlocksFetched();
            }
        }

        @Override
        public synchronized String toString() {
            return "failed tasks: " + failed + "\nremote blocks: " + remoteBlocks;
        }
    }

    public static void main(String[] arguments) {
        Watcher watcher = new Watcher();
        try (JavaSparkContext spark = open(System.getProperty("java.class.path"))) {
            spark.sc().addSparkListener(watcher);
            System.out.println("group " + group(spark, RECORDS));
            System.out.println("sort " + sort(spark));
            System.out.println("join " + join(spark));
            if (List.of(arguments).contains("kill")) {
                watcher.kill();
            }
            System.out.println("group " + group(spark, 4 * RECORDS));
        }
        System.out.println(watcher);
    }
}
