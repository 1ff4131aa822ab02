package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Silent clients cannot keep others out.
class UnansweredRequestsTest {
    private static final int SHARE = UnansweredRequests.MOST_OF_AN_ORIGIN;

    private final UnansweredRequests<Integer> requests = new UnansweredRequests<>();

    /// Adds requests of an address, which all find room.
    private void fill(int from, int to, String address) {
        for (int i = from; i < to; i++) {
            assertThat(requests.add(i, InetAddress.ofLiteral(address))).isNull();
        }
    }

    @Test
    void anAddressThatHasUsedItsShareDisplacesItsOwnOldest() {
        fill(0, 1, "10.0.0.2");
        fill(1, SHARE + 1, "10.0.0.1");

        assertThat(requests.add(500, InetAddress.ofLiteral("10.0.0.1"))).isEqualTo(1);
        assertThat(requests.add(501, InetAddress.ofLiteral("10.0.0.2"))).isNull();
    }

    @Test
    void whenAllPlacesAreTakenTheOldestOfAllGivesWay() {
        fill(0, SHARE, "10.0.0.1");
        fill(SHARE, UnansweredRequests.MOST, "10.0.0.2");

        assertThat(requests.add(500, InetAddress.ofLiteral("10.0.0.3"))).isZero();
    }

    @Test
    void anAnsweredRequestMakesRoom() {
        fill(0, SHARE, "10.0.0.1");
        requests.remove(3);

        fill(500, 501, "10.0.0.1");
        assertThat(requests.removeAll()).hasSize(SHARE).doesNotContain(3);
        fill(0, SHARE, "10.0.0.1");
    }

    @ParameterizedTest
    @CsvSource({
        "fe80::1, fe80::2, true",
        "fe80::1, fe80:0:0:1::1, false",
        "::1, ::2, false",
        "10.0.0.1, 10.0.0.2, false"
    })
    void addressesOfAnIpv6NetworkShareOneLimit(String one, String other, boolean shared) {
        fill(0, SHARE, one);

        assertThat(requests.add(500, InetAddress.ofLiteral(other))).isEqualTo(shared ? 0 : null);
    }
}
