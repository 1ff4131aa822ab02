package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.SessionOptions;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// Where servers of the command listen, and what they say about it.
final class ListenOptionsTest {
    private static ListenOptions parsed(String... arguments) {
        return CommandLine.populateCommand(new ListenOptions(), arguments);
    }

    @Test
    void aServerListensOnAllAddresses() {
        SessionOptions options = parsed().apply(SessionOptions.defaults());

        assertThat(options.host()).isEqualTo("*");
        assertThat(options.port()).isEqualTo(2020);
        assertThat(parsed().socketAddress(7).getAddress().isAnyLocalAddress()).isTrue();
        assertThat(parsed().isBound()).isFalse();
    }

    @Test
    void anAddressIsTaken() {
        ListenOptions listen = parsed("--bind", "127.0.0.3", "--port", "9");
        SessionOptions options = listen.apply(SessionOptions.defaults());

        assertThat(options.host()).isEqualTo("127.0.0.3");
        assertThat(options.port()).isEqualTo(9);
        assertThat(listen.localAddress().getHostAddress()).isEqualTo("127.0.0.3");
        assertThat(listen.isBound()).isTrue();
    }

    @Test
    void theLineSaysWhereItListensAndWhoMayConnect() {
        SessionOptions open = SessionOptions.defaults();
        SessionOptions guarded = open.withSecret(Secret.of(new byte[16]));

        assertThat(parsed().line(2020, open))
                .isEqualTo("listening on port 2020 of all addresses; any client may connect");
        assertThat(parsed("--bind", "::1").line(5, guarded))
                .isEqualTo("listening on port 5 of ::1; clients with the secret may connect");
        assertThat(parsed().line(7)).isEqualTo("listening on port 7 of all addresses; any client may connect");
    }
}
