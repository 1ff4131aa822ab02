import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import org.apache.spark.api.java.JavaSparkContext;

/// A driver of Spark with two executors, which shuffle records between them. The client, which has a plain socket, only
/// starts the jobs and counts the records.
final class SparkShuffle implements Loaded {
    private static final int RECORDS = 8000;

    @Override
    public int start(Path folder) throws Exception {
        JavaSparkContext spark = Shuffles.open(System.getProperty("java.class.path"));
        spark.setLogLevel("ERROR");
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> {
            try (server;
                    Socket client = server.accept()) {
                serve(spark, new DataOutputStream(client.getOutputStream()));
            } catch (IOException e) {
                // The client has what it wants.
            }
        });
        return server.getLocalPort();
    }

    private static void serve(JavaSparkContext spark, DataOutputStream client) throws IOException {
        while (true) {
            client.writeLong(Shuffles.group(spark, RECORDS));
        }
    }

    /// The end of the JVM stops Spark.
    @Override
    public void stop() {}

    @Override
    public void begin(int port, Meter meter) throws Exception {
        Socket driver = new Socket(InetAddress.getLoopbackAddress(), port);
        DataInputStream sums = new DataInputStream(driver.getInputStream());
        Thread.ofPlatform().daemon().start(() -> {
            try (driver) {
                long expected = count(sums.readLong(), meter);
                while (count(sums.readLong(), meter) == expected) {}
                throw new AssertionError("the same job has given another result");
            } catch (IOException | AssertionError e) {
                meter.failed(e);
            }
        });
    }

    private static long count(long sum, Meter meter) {
        for (long i = 0; i < Shuffles.values(RECORDS); i++) {
            meter.done();
        }
        return sum;
    }
}
