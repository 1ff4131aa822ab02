package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.examples.BlockClient;
import io.rdmacomm.examples.BlockServer;
import io.rdmacomm.examples.BlockService;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The service of the examples returns what was stored, and outlives the death of either end.
@ExtendWith(LeakCheck.class)
@Timeout(300)
final class BlockServiceTest {
    /// Room for 128 values, a quarter of which is for those that were taken back.
    private static final long LIMIT = 8 << 20;

    private static final int KEPT = 96;

    private static SessionOptions options(int port) {
        return SessionOptions.defaults().withAddress("127.0.0.1", port);
    }

    private static BlockClient client(SessionOptions options) {
        return new BlockClient(options, TIMEOUT, 1000);
    }

    /// All words of a value are the key and a version.
    private static void put(BlockClient client, BufferSlice memory, int key, int version) {
        // Of several lengths.
        MemorySegment value = memory.segment().asSlice(0, BlockServer.LONGEST - 8L * (version % 1000));
        for (long at = 0; at < value.byteSize(); at += 8) {
            value.set(JAVA_LONG, at, (long) key << 32 | version);
        }
        client.put("key " + key, value);
    }

    /// @return the version, whose words were checked; 0 if there is no value
    private static int get(BlockClient client, BufferSlice memory, int key) {
        int length = client.get("key " + key, memory);
        if (length == 0) {
            return 0;
        }
        int version = (int) memory.segment().get(JAVA_LONG, 0);
        assertThat(length).isEqualTo(BlockServer.LONGEST - 8 * (version % 1000));
        for (long at = 0; at < length; at += 8) {
            assertThat(memory.segment().get(JAVA_LONG, at)).isEqualTo((long) key << 32 | version);
        }
        return version;
    }

    @ParameterizedTest
    @EnumSource(Line.class)
    void valuesAreRightWhileOthersAreReplacedAndEvicted(Line line) throws Exception {
        SessionOptions options = line.options(WorkMode.ADAPTIVE, ThreadMode.SHARED_CQ);
        try (BlockServer server = new BlockServer(options.withAddress("127.0.0.1", 0), LIMIT)) {
            SessionOptions toServer = options.withAddress("127.0.0.1", server.port());
            List<FutureTask<Integer>> users = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int number = i;
                users.add(new FutureTask<>(() -> use(toServer, number)));
            }
            users.forEach(user -> Thread.ofPlatform().start(user));
            int evicted = 0;
            for (FutureTask<Integer> user : users) {
                evicted += user.get(200, TimeUnit.SECONDS);
            }
            assertThat(evicted).isPositive();
            eventually(() -> server.statistics().pieces() == KEPT);
        }
    }

    /// Stores values of its own keys, and reads those of all.
    ///
    /// @return how many of its own were evicted
    private static int use(SessionOptions options, int number) {
        int keys = KEPT;
        int[] versions = new int[keys * 3 / 2];
        Random random = new Random(number);
        int evicted = 0;
        try (BlockClient client = client(options)) {
            BufferSlice memory = client.allocate(BlockServer.LONGEST).whole();
            for (int version = 1; version <= 80; version++) {
                int own = random.nextInt(versions.length / 3) * 3 + number;
                if (versions[own] > 0 && get(client, memory, own) == 0) {
                    evicted++;
                }
                put(client, memory, own, version);
                versions[own] = version;
                for (int i = 0; i < 50; i++) {
                    int key = random.nextInt(versions.length);
                    int found = get(client, memory, key);
                    if (found > 0) {
                        // A lease lets values be old, but never older than what was read before.
                        assertThat(found).isGreaterThanOrEqualTo(versions[key]);
                        versions[key] = found;
                    }
                }
            }
        }
        return evicted;
    }

    @Test
    void aKilledClientThatHoldsLeasesKeepsNoMemory() throws IOException {
        try (BlockServer server = new BlockServer(options(0), LIMIT);
                BlockClient client = client(options(server.port()))) {
            BufferSlice memory = client.allocate(BlockServer.LONGEST).whole();
            for (int key = 0; key < KEPT; key++) {
                put(client, memory, key, 1);
            }
            Process holder = start(Holder.class, "" + server.port());
            try (BufferedReader output = holder.inputReader()) {
                assertThat(output.readLine()).isEqualTo("holding");
                // kill -9, while it reads.
                holder.destroyForcibly();
            }
            // More than there is room for, without the memory that was lent.
            for (int key = 0; key < 2 * KEPT; key++) {
                put(client, memory, key, 2);
            }
            eventually(() -> server.statistics().pieces() == KEPT);
            for (int key = KEPT; key < 2 * KEPT; key++) {
                assertThat(get(client, memory, key)).isEqualTo(2);
            }
        }
    }

    /// Reads values again and again.
    static final class Holder {
        private Holder() {}

        /// Arguments: the port.
        public static void main(String[] arguments) {
            try (BlockClient client = client(options(Integer.parseInt(arguments[0])))) {
                BufferSlice memory = client.allocate(BlockServer.LONGEST).whole();
                for (int turn = 0; ; turn++) {
                    for (int key = 0; key < KEPT; key++) {
                        assertThat(get(client, memory, key)).isIn(0, 1, 2);
                    }
                    if (turn == 0) {
                        System.out.println("holding");
                    }
                }
            }
        }
    }

    @Test
    void clientsOfAKilledServerFailAndReadFromTheNextOne() throws IOException {
        Process server = start(BlockService.class, "server", "0", "8");
        try {
            int port = port(server);
            try (BlockClient client = client(options(port))) {
                BufferSlice memory = client.allocate(BlockServer.LONGEST).whole();
                put(client, memory, 7, 1);
                assertThat(get(client, memory, 7)).isEqualTo(1);

                server.destroyForcibly();
                long killed = System.nanoTime();
                assertThatThrownBy(() -> readForever(client, memory))
                        .isInstanceOfAny(ClosedException.class, OperationException.class);
                assertThat(System.nanoTime() - killed).isLessThan(TIMEOUT.toNanos());

                server = start(BlockService.class, "server", "" + port, "8");
                assertThat(port(server)).isEqualTo(port);
                // It has no values yet.
                eventually(() -> isAbsent(client, memory));
                put(client, memory, 7, 2);
                assertThat(get(client, memory, 7)).isEqualTo(2);
            }
        } finally {
            server.destroyForcibly();
        }
    }

    private static void readForever(BlockClient client, BufferSlice memory) {
        while (true) {
            assertThat(get(client, memory, 7)).isEqualTo(1);
        }
    }

    private static boolean isAbsent(BlockClient client, BufferSlice memory) {
        try {
            return get(client, memory, 7) == 0;
        } catch (RdmaException _) {
            return false;
        }
    }

    private static Process start(Class<?> main, String... arguments) throws IOException {
        List<String> command = JavaCommand.of(main, List.of("-Xmx256m"));
        Collections.addAll(command, arguments);
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static int port(Process server) throws IOException {
        String line = server.inputReader().readLine();
        assertThat(line).startsWith("listening on port ");
        return Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
    }
}
