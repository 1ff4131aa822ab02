package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.setup.SetUpException.Reason;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

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

    @Test
    void noNameIsThisHost() {
        assertThat(HostNames.resolve("", in(Duration.ZERO))).containsExactly(InetAddress.getLoopbackAddress());
    }

    @Test
    void aNameHasAllItsAddresses() throws Exception {
        assertThat(HostNames.resolve("localhost", in(Duration.ofSeconds(20))))
                .containsExactly(InetAddress.getAllByName("localhost"));
    }

    @Test
    void aNameWithoutAnAddressFailsByTheDeadline() {
        assertThatThrownBy(() -> HostNames.resolve("no-such-host.invalid", in(Duration.ofSeconds(10))))
                .isInstanceOfSatisfying(
                        SetUpException.class,
                        failure -> assertThat(failure.reason()).isIn(Reason.HOST_UNKNOWN, Reason.DEADLINE_PASSED))
                .hasMessageContaining("no-such-host.invalid");
    }
}
