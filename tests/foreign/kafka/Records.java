import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;

/// Writes records to a topic, or reads them all and checks each, alone or as a group of consumers that share them:
/// `Records produce|consume|share SERVER COUNT GROUP`.
final class Records {
    private static final String TOPIC = "records";
    private static final int BYTES = 1024;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private Records() {}

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[2]);
        long begin = System.nanoTime();
        switch (arguments[0]) {
            case "produce" -> produce(arguments[1], count);
            case "consume" -> consume(arguments[1], count, arguments[3]);
            default -> share(arguments[1], count, arguments[3] + "-shared");
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf("%s: %d records, %.1f MB/s%n", arguments[0], count, count * (double) BYTES / seconds / 1e6);
    }

    private static byte[] value(long key) {
        byte[] value = new byte[BYTES];
        new Random(key).nextBytes(value);
        return value;
    }

    private static void produce(String server, int count) throws Exception {
        Map<String, Object> options = Map.of("bootstrap.servers", server, "acks", "all", "linger.ms", "1");
        Future<?> last = null;
        try (var producer = new KafkaProducer<>(options, new LongSerializer(), new ByteArraySerializer())) {
            for (long key = 0; key < count; key++) {
                last = producer.send(new ProducerRecord<>(TOPIC, key, value(key)));
            }
            producer.flush();
            last.get();
        }
    }

    private static KafkaConsumer<Long, byte[]> consumer(String server, String group) {
        Map<String, Object> options = Map.of(
                "bootstrap.servers", server, "group.id", group, "auto.offset.reset", "earliest", "enable.auto.commit", "false");
        var consumer = new KafkaConsumer<>(options, new LongDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(TOPIC));
        return consumer;
    }

    private static void consume(String server, int count, String group) {
        try (var consumer = consumer(server, group)) {
            read(List.of(consumer), count);
            consumer.commitSync();
        }
    }

    /// One consumer for each partition.
    private static void share(String server, int count, String group) {
        try (var first = consumer(server, group);
                var second = consumer(server, group);
                var third = consumer(server, group)) {
            var members = List.of(first, second, third);
            long end = System.nanoTime() + TIMEOUT.toNanos();
            while (members.stream().anyMatch(member -> member.assignment().size() != 1)) {
                if (System.nanoTime() - end > 0) {
                    throw new AssertionError("the group has not shared the partitions");
                }
                members.forEach(member -> member.poll(Duration.ofMillis(100)));
            }
            members.forEach(member -> member.seekToBeginning(member.assignment()));
            read(members, count);
        }
    }

    private static void read(List<KafkaConsumer<Long, byte[]>> members, int count) {
        Set<Long> found = new HashSet<>();
        Map<Integer, Long> newest = new HashMap<>();
        long end = System.nanoTime() + TIMEOUT.toNanos();
        while (found.size() < count) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("only " + found.size() + " of " + count + " records");
            }
            for (KafkaConsumer<Long, byte[]> member : members) {
                for (ConsumerRecord<Long, byte[]> each : member.poll(Duration.ofMillis(200))) {
                    check(each, newest);
                    if (!found.add(each.key())) {
                        throw new AssertionError("record " + each.key() + " came twice");
                    }
                }
            }
        }
    }

    /// Each partition has the records in the order in which they were sent.
    private static void check(ConsumerRecord<Long, byte[]> each, Map<Integer, Long> newest) {
        if (!java.util.Arrays.equals(each.value(), value(each.key()))) {
            throw new AssertionError("record " + each.key() + " has other bytes");
        }
        Long before = newest.put(each.partition(), each.key());
        if (before != null && before >= each.key()) {
            throw new AssertionError("record " + each.key() + " came after " + before);
        }
    }
}
