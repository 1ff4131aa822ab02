package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

class DeviceOptionsTest {
    @Command
    private static final class Host {
        @Mixin
        private final DeviceOptions device = new DeviceOptions();

        @Option(names = "--other")
        @SuppressWarnings("UnusedVariable") // an option of the command, which is not passed on
        private int other;
    }

    private static DeviceOptions parse(String... arguments) {
        Host host = new Host();
        new CommandLine(host).parseArgs(arguments);
        return host.device;
    }

    @Test
    void onlyGivenDeviceOptionsArePassedOn() {
        assertThat(parse("--other", "7").arguments()).isEmpty();
        assertThat(parse("--other", "7", "-d", "rxe0", "--mtu", "512", "-R", "--rdma-cm-port", "2021")
                        .arguments())
                .containsExactlyInAnyOrder("--device", "rxe0", "--mtu", "512", "--rdma-cm", "--rdma-cm-port", "2021");
    }

    @Test
    void passedOnOptionsMeanTheSame() {
        DeviceOptions given = parse("-x", "3", "--sl", "5", "--qp-timeout", "17", "--retry", "2", "--rnr-retry", "1");

        DeviceOptions passedOn = parse(given.arguments().toArray(String[]::new));

        assertThat(passedOn.connection()).isEqualTo(given.connection());
        assertThat(passedOn.connection()).isNotEqualTo(parse().connection());
    }

    @Test
    void theDefaultMtuAppliesOnlyIfNoneIsGiven() {
        ConnectionOptions given = parse("--mtu", "512").connection(PathMtu.MTU_1024);
        ConnectionOptions none = parse().connection(PathMtu.MTU_1024);

        assertThat(given.path().mtu()).isEqualTo(PathMtu.MTU_512);
        assertThat(none.path().mtu()).isEqualTo(PathMtu.MTU_1024);
    }
}
