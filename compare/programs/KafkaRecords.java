import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;

/// Records of a kilobyte to a broker of Kafka, or from it. A consumer reads the same records again and again; writing
/// them first warms both JVMs.
final class KafkaRecords implements Loaded {
    private static final String TOPIC = "records";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final int BYTES = 1024;
    private static final int STORED = 100_000;
    private static final int VALUES = 64;
    private static final String STORAGE = "4L6g3nShT-eMCtK--X86sw";

    private final boolean consumes;
    private final byte[][] values = new byte[VALUES][];

    KafkaRecords(boolean consumes) {
        this.consumes = consumes;
        for (int i = 0; i < VALUES; i++) {
            values[i] = Bytes.of(BYTES, i);
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public int start(Path folder) throws Exception {
        int port = freePort();
        int controller = freePort();
        Path properties = folder.resolve("server.properties");
        Files.writeString(
                properties,
                """
                process.roles=broker,controller
                node.id=1
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                advertised.listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                controller.listener.names=CONTROLLER
                controller.quorum.bootstrap.servers=127.0.0.1:%2$d
                log.dirs=%3$s
                log.segment.bytes=67108864
                log.retention.bytes=268435456
                log.retention.check.interval.ms=1000
                log.segment.delete.delay.ms=100
                offsets.topic.replication.factor=1
                """
                        .formatted(port, controller, folder.resolve("logs")));
        String[] format = {"format", "--standalone", "-t", STORAGE, "-c", properties.toString()};
        kafka.tools.StorageTool.execute(format, new PrintStream(PrintStream.nullOutputStream()));
        Thread.ofPlatform().daemon().start(() -> kafka.Kafka.main(new String[] {properties.toString()}));
        return port;
    }

    /// The end of the JVM stops the broker.
    @Override
    public void stop() {}

    @Override
    public void begin(int port, Meter meter) {
        String server = "127.0.0.1:" + port;
        Meter writing = consumes ? new Meter() : meter;
        var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", server, "linger.ms", "1"), new LongSerializer(), new ByteArraySerializer());
        if (!consumes) {
            Thread.ofPlatform().daemon().start(() -> write(producer, Long.MAX_VALUE, writing));
            return;
        }
        write(producer, STORED, writing);
        producer.close();
        writing.check();
        Thread.ofPlatform().daemon().start(() -> read(server, meter));
    }

    private byte[] value(long key) {
        return values[(int) (key % VALUES)];
    }

    private void write(KafkaProducer<Long, byte[]> producer, long count, Meter meter) {
        try {
            for (long key = 0; key < count; key++) {
                producer.send(new ProducerRecord<>(TOPIC, 0, key, value(key)), (_, failure) -> {
                    if (failure == null) {
                        meter.done();
                    } else {
                        meter.failed(failure);
                    }
                });
            }
        } catch (RuntimeException e) {
            meter.failed(e);
        }
    }

    private void read(String server, Meter meter) {
        Map<String, Object> options = Map.of("bootstrap.servers", server, "auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<>(options, new LongDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(PARTITION));
            while (true) {
                consumer.seekToBeginning(List.of(PARTITION));
                long expected = 0;
                while (expected < STORED) {
                    for (ConsumerRecord<Long, byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                        if (record.key() != expected++) {
                            throw new AssertionError("record " + record.key() + " came in place of " + (expected - 1));
                        }
                        Bytes.check("a record", value(record.key()), record.value());
                        meter.done();
                    }
                }
            }
        } catch (RuntimeException | AssertionError e) {
            meter.failed(e);
        }
    }
}
