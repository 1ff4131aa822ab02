package io.rdmacomm.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The addresses that channels take, and the exceptions for others, as with channels of the JDK.
class FamilyTest {
    private static final Family IPV4 = new Family(StandardProtocolFamily.INET);

    private static InetSocketAddress address(String literal) {
        return new InetSocketAddress(InetAddress.ofLiteral(literal), 7);
    }

    @Test
    void onlyResolvedInternetAddressesAreTaken() {
        assertThat(Family.ANY.checked(address("::1"))).isEqualTo(address("::1"));
        assertThat(IPV4.checked(address("10.0.0.1"))).isEqualTo(address("10.0.0.1"));
        assertThatThrownBy(() -> Family.ANY.checked(UnixDomainSocketAddress.of("/tmp/socket")))
                .isInstanceOf(UnsupportedAddressTypeException.class);
        assertThatThrownBy(() -> Family.ANY.checked(InetSocketAddress.createUnresolved("nowhere", 7)))
                .isInstanceOf(UnresolvedAddressException.class);
        assertThatThrownBy(() -> IPV4.checked(address("::1"))).isInstanceOf(UnsupportedAddressTypeException.class);
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0, 127.0.0.1", "::, ::1", "10.0.0.1, 10.0.0.1", "fe80::1, fe80::1"})
    void theWildcardAddressOfAPeerIsThisHost(String given, String remote) {
        assertThat(Addresses.remote(address(given))).isEqualTo(address(remote));
    }

    @ParameterizedTest
    @CsvSource({"10.0.0.1, 0.0.0.0", "fe80::1, ::"})
    void thePeerDecidesTheFamilyOfTheWildcardAddress(String peer, String wildcard) {
        assertThat(Addresses.wildcard(InetAddress.ofLiteral(peer), 7)).isEqualTo(address(wildcard));
    }
}
