package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `rdmacomm stream` with `rstream` of librdmacm: both ends check every byte.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class StreamProgramTest {
    private static final String LISTENS = "rdma resource show cm_id | grep LISTEN";

    /// @param how the options that both programs understand
    /// @param ours those of our end alone
    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, -S 1000 -C 30 -I 2 -T v, -T n",
        "rxe0, 10.9.0.1, -S 100000 -C 20 -I 3 -T v, -T a",
        "rxe0, 10.9.0.1, -S 1 -C 400 -I 1 -T v, -T b -B 4k",
        "siw0, 10.8.0.1, -S 1000 -C 200 -I 3 -T v, -T a",
        "siw0, 10.8.0.1, -S 100000 -C 20 -I 3 -T v, -T b",
        "siw0, 10.8.0.1, -S 1 -C 400 -I 1 -T v, -T n",
    })
    void ourClientTalksToRstream(String device, String address, String how, String ours) throws Exception {
        Process server = CProgram.serve("rstream -b " + address + " " + how, LISTENS);
        Outcome client = NearCommand.run("stream " + address + " -W 60 --device " + device + " " + how + " " + ours);
        assertThat(client.exitCode()).as(client.text()).isZero();
        assertThat(client.text()).contains("from the server, correct").contains("device " + device);
        CProgram.assertEndsWell(server);
    }

    @ParameterizedTest
    @CsvSource({
        "rxe0, 10.9.0.1, -S 1000 -C 200 -I 3 -T v, -T a, ''",
        "rxe0, 10.9.0.1, -S 30000 -C 4 -I 3 -T v, -T b, -k 1",
        "rxe0, 10.9.0.1, -S 1 -C 400 -I 1 -T v, -T n, -T b",
        "siw0, 10.8.0.1, -S 1000 -C 100 -I 3 -T v, -T b, ''",
        "siw0, 10.8.0.1, -S 2000 -C 50 -I 3 -T v, -T n, -k 1",
        "siw0, 10.8.0.1, -S 1 -C 300 -I 1 -T v, -T a, -T a",
    })
    void rstreamTalksToOurServer(String device, String address, String how, String ours, String theirs)
            throws Exception {
        NearCommand server = NearCommand.serve(
                "stream --server --once --bind " + address + " --device " + device + " " + how + " " + ours);
        CProgram.assertEndsWell(CProgram.start("rstream -s " + address + " " + how + " " + theirs));
        Outcome served = server.end();
        assertThat(served.exitCode()).as(served.text()).isZero();
        assertThat(served.text()).containsPattern("custom +\\d+ +\\d+ +\\d+ ");
    }

    @Test
    void plainSocketsAreTheSameProtocol() throws Exception {
        String how = " -S 1000 -C 200 -I 3 -T v -T s";
        NearCommand server = NearCommand.serve("stream --server --once --bind 127.0.0.1 --port 7472" + how);
        CProgram.assertEndsWell(CProgram.start("rstream -s 127.0.0.1 -p 7472" + how));
        Outcome served = server.end();
        assertThat(served.exitCode()).as(served.text()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void aClientThatSendsNoPatternIsReported(String device, String address) throws Exception {
        NearCommand server = NearCommand.serve(
                "stream --server --once -S 1000 -C 10 -T v --bind " + address + " --device " + device);
        Process client = CProgram.start("rstream -S 1000 -C 10 -s " + address);
        Outcome served = server.end();
        assertThat(served.exitCode()).isEqualTo(1);
        assertThat(served.text()).contains("give -T v at both ends");
        // It asks again and again after the end of the connection. `timeout` passes this signal on to it.
        client.destroy();
        client.onExit().join();
    }
}
