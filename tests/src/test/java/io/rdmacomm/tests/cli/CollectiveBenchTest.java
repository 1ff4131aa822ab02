package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.mesh.CollectiveResult;
import io.rdmacomm.cli.mesh.CollectiveTest;
import io.rdmacomm.tests.cli.Command.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `bench` of collectives: its output, not its speed.
class CollectiveBenchTest {
    @Test
    @Tag("slow")
    void allCollectivesRunAndVerifyTheirResults(@TempDir Path folder) throws Exception {
        Path json = folder.resolve("out.json");

        Result result = Command.run(
                "bench",
                "--tests",
                "barrier,broadcast,reduce,allreduce,allgather,reducescatter,alltoall",
                "--nodes",
                "3",
                "--sizes",
                "8,30000",
                "--iterations",
                "10",
                "--warmup",
                "0",
                "--json",
                json.toString());

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("3 nodes", "busbw", "recursive doubling", "ring", "all results verified");
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(json));
        assertThat(document).containsEntry("nodes", 3).containsEntry("data_verified", true);
        List<?> results = (List<?>) document.get("results");
        assertThat(results.stream().map(row -> ((Map<?, ?>) row).get("test") + " " + ((Map<?, ?>) row).get("bytes")))
                .containsExactly(
                        "barrier 0",
                        "broadcast 8",
                        "broadcast 30000",
                        "reduce 8",
                        "reduce 30000",
                        "allreduce 8",
                        "allreduce 30000",
                        "allgather 24",
                        "allgather 30000",
                        "reducescatter 24",
                        "reducescatter 30000",
                        "alltoall 24",
                        "alltoall 30000");
    }

    @Test
    void collectivesAndOtherTestsExcludeEachOther() throws Exception {
        Result result = Command.run("bench", "--tests", "allreduce,write_lat", "--nodes", "2");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("collectives run without a server and without other tests");
    }

    @Test
    void bandwidthsAreThoseOfNcclTests() {
        CollectiveResult sum = new CollectiveResult(CollectiveTest.ALLREDUCE, 4_000_000, 4, "ring", 1, 1000);
        assertThat(sum.algorithmBandwidth()).isEqualTo(4.0);
        assertThat(sum.busBandwidth()).isEqualTo(6.0);
        CollectiveResult blocks = new CollectiveResult(CollectiveTest.ALLTOALL, 4_000_000, 4, "direct", 1, 1000);
        assertThat(blocks.busBandwidth()).isEqualTo(3.0);
        CollectiveResult spread = new CollectiveResult(CollectiveTest.BROADCAST, 4_000_000, 4, "ring", 1, 1000);
        assertThat(spread.busBandwidth()).isEqualTo(4.0);
    }
}
