package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.examples.FileCopy;
import io.rdmacomm.examples.LatBwBenchmark;
import io.rdmacomm.examples.MeshGreeting;
import io.rdmacomm.examples.PingPong;
import io.rdmacomm.tests.fixture.PortForward;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example programs work as documented.
class ExamplesTest {
    private interface Program {
        void run() throws Exception;
    }

    @Test
    void pingPong() throws Exception {
        assertThat(outputOf(() -> PingPong.main(new String[] {"20"}))).startsWith("20 messages back and forth");
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
    void meshGreeting() throws Exception {
        String port = Integer.toString(PortForward.freePort());
        CompletableFuture<Void> first = CompletableFuture.runAsync(
                () -> MeshGreeting.main(new String[] {"0", "2", "localhost", port}), Thread::startVirtualThread);

        String output = outputOf(() -> {
            MeshGreeting.main(new String[] {"1", "2", "localhost", port});
            first.join();
        });

        assertThat(output.lines())
                .containsExactlyInAnyOrder(
                        "rank 0 hears: rank 1 greets all others", "rank 1 hears: rank 0 greets all others");
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
