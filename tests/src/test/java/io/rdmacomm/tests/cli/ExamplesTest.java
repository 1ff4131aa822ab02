package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.examples.AllReduce;
import io.rdmacomm.examples.BlockService;
import io.rdmacomm.examples.FileCopy;
import io.rdmacomm.examples.KeyValueStore;
import io.rdmacomm.examples.LatBwBenchmark;
import io.rdmacomm.examples.MeshCommService;
import io.rdmacomm.examples.MeshGreeting;
import io.rdmacomm.examples.PingPong;
import io.rdmacomm.examples.QuoteBoard;
import io.rdmacomm.examples.RdmaCmStringCopy;
import io.rdmacomm.examples.SharedReceiveServer;
import io.rdmacomm.examples.VirtualThreadsEcho;
import io.rdmacomm.tests.fixture.PortForward;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example programs work as documented.
class ExamplesTest {
    private interface Program {
        void run() throws Exception;
    }

    @Test
    void pingPong() throws Exception {
        assertThat(outputOf(() -> PingPong.main(new String[] {"20"})))
                .contains("20 messages back and forth in a new JVM", "and once it is warm");
    }

    @Test
    void latBwBenchmark() throws Exception {
        assertThat(outputOf(() -> LatBwBenchmark.main(new String[] {"200"})))
                .contains("READ of 8 bytes: p50", "WRITE of 1 MiB:");
    }

    @Test
    void fileCopy(@TempDir Path folder) throws Exception {
        byte[] content = new byte[3_000_001];
        new Random(7).nextBytes(content);
        Path from = Files.write(folder.resolve("from"), content);
        Path to = folder.resolve("to");

        String output = outputOf(() -> FileCopy.main(new String[] {from.toString(), to.toString()}));

        assertThat(output).isEqualTo("copied 3000001 bytes\n");
        assertThat(Files.mismatch(from, to)).isEqualTo(-1);
    }

    @Test
    void rdmaCmStringCopy() throws Exception {
        assertThat(outputOf(() -> RdmaCmStringCopy.main(new String[] {"grüße"})))
                .isEqualTo("SUCCESS, source and destination buffers match\nthe server has: grüße\n");
    }

    @Test
    void sharedReceiveServer() throws Exception {
        assertThat(outputOf(() -> SharedReceiveServer.main(new String[] {"50"})))
                .isEqualTo("1200 messages from 3 clients went through 64 receives\n");
    }

    @Test
    void virtualThreadsEcho() throws Exception {
        assertThat(outputOf(() -> VirtualThreadsEcho.main(new String[] {"200"})))
                .startsWith("200 virtual threads got 800 answers");
    }

    @Test
    void keyValueStore() throws Exception {
        assertThat(outputOf(() -> KeyValueStore.main(new String[] {"100"})))
                .startsWith("4 clients, 100 PUTs and 100 GETs each: ");
    }

    @Test
    void quoteBoard() throws Exception {
        assertThat(outputOf(() -> QuoteBoard.main(new String[] {"100000"}))).startsWith("100000 quotes read, ");
    }

    @Test
    void blockService() throws Exception {
        assertThat(outputOf(() -> BlockService.main(new String[] {"1"})))
                .contains("client 0 has read ", "client 2 has read ", " values in memory");
    }

    /// Without arguments, four nodes in this process.
    @Test
    void meshGreeting() throws Exception {
        assertThat(outputOf(() -> MeshGreeting.main(new String[0])).lines())
                .hasSize(12)
                .contains("rank 0 hears: rank 1 greets all others", "rank 3 hears: rank 2 greets all others");
    }

    @Test
    void meshCommService() throws Exception {
        assertThat(outputOfTwoNodes(MeshCommService::main).lines())
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line).startsWith("rank 0 of 2: wrote 20 MiB at "),
                        line -> assertThat(line).startsWith("rank 1 of 2: wrote 20 MiB at "));
    }

    @Test
    void allReduce() throws Exception {
        assertThat(outputOfTwoNodes(AllReduce::main).lines())
                .containsExactlyInAnyOrder("rank 0 of 2: y = 3.000 x + 2.000", "rank 1 of 2: y = 3.000 x + 2.000");
    }

    private static String outputOfTwoNodes(Consumer<String[]> main) throws Exception {
        String port = Integer.toString(PortForward.freePort());
        CompletableFuture<Void> first = CompletableFuture.runAsync(
                () -> main.accept(new String[] {"0", "2", "localhost", port}), Thread::startVirtualThread);
        return outputOf(() -> {
            main.accept(new String[] {"1", "2", "localhost", port});
            first.join();
        });
    }

    private static String outputOf(Program program) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            program.run();
        } finally {
            System.setOut(before);
        }
        return output.toString(StandardCharsets.UTF_8);
    }
}
