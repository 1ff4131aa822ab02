package io.rdmacomm.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which addresses are reached through a device: the software device is at 127.0.0.1.
class DeviceNetworksTest {
    @Test
    void aDeviceReachesWhatTheHostReachesFromItsAddress() {
        try (Context context = Rdma.open("soft0")) {
            assertThat(DeviceNetworks.isReachedThrough(context, InetAddress.ofLiteral("127.0.0.1")))
                    .isTrue();
            assertThat(DeviceNetworks.isReachedThrough(context, InetAddress.ofLiteral("192.0.2.1")))
                    .isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"})
    void addressesThatAreOnNoNetworkStayWithTcp(String address) {
        assertThat(DeviceNetworks.isNetworkAddress(InetAddress.ofLiteral(address)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.1.2.3", "192.168.0.1", "fe80::1", "2001:db8::1"})
    void addressesOfNetworks(String address) {
        assertThat(DeviceNetworks.isNetworkAddress(InetAddress.ofLiteral(address)))
                .isTrue();
    }
}
