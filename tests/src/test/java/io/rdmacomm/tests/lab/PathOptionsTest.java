package io.rdmacomm.tests.lab;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Paths on a device that sends packets: what one side asks for, and what both need alike.
@Tag("slow")
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class PathOptionsTest {
    private static final String RXE = "10.9.0.1";
    /// An address of rxe0 that no packet may come from or go to.
    private static final String PROHIBITED = "10.77.0.1";

    private static SessionOptions with(PathMtu mtu, int port) {
        ConnectionOptions how =
                ConnectionOptions.defaults().withPath(PathOptions.defaults().withMtu(mtu));
        return SessionOptions.defaults()
                .withDevice("rxe0")
                .withAddress(RXE, port)
                .withChannel(ChannelOptions.defaults().withConnection(how));
    }

    /// A side rejects packets that are longer than its MTU (REMOTE_INVALID_REQUEST).
    @ParameterizedTest
    @CsvSource({"MTU_256, MTU_4096", "MTU_4096, MTU_256"})
    void bothSidesSendPacketsOfTheSmallerMtu(PathMtu ofServer, PathMtu ofClient) throws Exception {
        try (SessionTalk server = SessionTalk.listen(with(ofServer, 0))) {
            SessionTalk.call(with(ofClient, server.port()));
            server.end();
        }
    }

    /// The GID table of rxe0 begins with an address that does not reach the peer, as on an adapter with several
    /// networks. Data once took that one, whatever was asked for.
    @Test
    void benchmarksTakeTheGidOfTheAddress() {
        Shell.run("ip address delete " + RXE + "/24 dev v0; ip address add " + PROHIBITED + "/24 dev v0;"
                + " ip address add " + RXE + "/24 dev v0;"
                + " ip rule add to " + PROHIBITED + " prohibit; ip rule add from " + PROHIBITED + " prohibit");
        try {
            for (String option : new String[] {"", " --gid-index 2"}) {
                NearCommand server =
                        NearCommand.serve("bench --server --once --device rxe0 --port 0 --bind " + RXE + option);
                NearCommand.run("bench " + RXE + ":" + server.port() + " --device rxe0 --tests write_lat,send_bw"
                                + " --sizes 8 -n 50 --warmup 0 --no-floors" + option)
                        .assertGood();
            }
        } finally {
            Shell.run("ip rule delete to " + PROHIBITED + " prohibit; ip rule delete from " + PROHIBITED
                    + " prohibit; ip address delete " + PROHIBITED + "/24 dev v0; ip address delete " + RXE
                    + "/24 dev v0; ip address add " + RXE + "/24 dev v0");
        }
    }
}
