package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.setup.SetupException.Reason;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HostNamesTest {
    private static long in(Duration time) {
        return System.nanoTime() + time.toNanos();
    }

    @Test
    void literalsAreNotLookedUp() throws Exception {
        long past = in(Duration.ofSeconds(-1));
        assertThat(HostNames.resolve("192.0.2.7", past)).containsExactly(InetAddress.ofLiteral("192.0.2.7"));
        assertThat(HostNames.resolve("::1", past)).containsExactly(InetAddress.ofLiteral("::1"));
    }

    /// Some hosts have only one of the two.
    @ParameterizedTest
    @ValueSource(strings = {"", "localhost", "LOCALHOST"})
    void thisHostHasTheLoopbackAddressesThatItHas(String name) throws Exception {
        List<InetAddress> present = new ArrayList<>();
        for (InetAddress address : List.of(InetAddress.ofLiteral("127.0.0.1"), InetAddress.ofLiteral("::1"))) {
            if (NetworkInterface.getByInetAddress(address) != null) {
                present.add(address);
            }
        }

        assertThat(HostNames.resolve(name, in(Duration.ZERO))).isNotEmpty().isEqualTo(present);
    }

    @Test
    void aNameWithoutAnAddressFailsByTheDeadline() {
        assertThatThrownBy(() -> HostNames.resolve("no-such-host.invalid", in(Duration.ofSeconds(10))))
                .isInstanceOfSatisfying(
                        SetupException.class,
                        failure -> assertThat(failure.reason()).isIn(Reason.HOST_UNKNOWN, Reason.DEADLINE_PASSED))
                .hasMessageContaining("no-such-host.invalid");
    }
}
