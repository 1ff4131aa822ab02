package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A machine with two adapters: fake0 has 10.0.0.7, and at its second port 10.0.0.8; fake1 has 10.0.1.7.
final class SeveralAdaptersTest {
    private static final InetAddress ANY = new InetSocketAddress(0).getAddress();

    private FakeVerbs fake;
    private List<Device> devices;
    private Set<Context> before;

    @BeforeAll
    static void needsCompiler() {
        CCompiler.require();
    }

    @BeforeEach
    void twoAdapters() {
        fake = FakeVerbs.fresh();
        fake.devices(2, 0);
        devices = fake.provider().devices().stream().map(Device::of).toList();
        before = Rdma.openContexts();
    }

    private String chosen(int port, InetAddress local) {
        DeviceChoice opened = DeviceChoice.open(devices, port, Capability.CONNECT_BY_NUMBERS, () -> local);
        assertThat(Rdma.openContexts()).as("all others are closed").hasSize(before.size() + 1);
        try (Context context = opened.context()) {
            return context + " " + opened.port();
        }
    }

    @Test
    void theDeviceWithTheAddressIsChosen() {
        assertThat(chosen(1, ConnectionCase.address(10, 0, 0, 7))).isEqualTo("fake0 1");
        assertThat(chosen(1, ConnectionCase.address(10, 0, 1, 7))).isEqualTo("fake1 1");
    }

    @Test
    void withoutTheAddressTheFirstIsChosen() {
        assertThat(chosen(1, ConnectionCase.address(10, 9, 9, 9))).isEqualTo("fake0 1");
        assertThat(chosen(1, ANY)).isEqualTo("fake0 1");
    }

    @Test
    void thePortWithTheAddressIsChosenUnlessAnotherIsNamed() {
        fake.ports(2);
        assertThat(chosen(1, ConnectionCase.address(10, 0, 0, 8))).isEqualTo("fake0 2");
        assertThat(chosen(2, ConnectionCase.address(10, 0, 0, 7))).isEqualTo("fake0 2");
    }

    @Test
    void aDeviceThatFailsIsPassedOver() {
        fake.fail("ibv_open_device", 13);
        assertThat(chosen(1, ConnectionCase.address(10, 0, 0, 7))).isEqualTo("fake1 1");
        fake.fail("_ibv_query_gid_table", 5);
        assertThat(chosen(1, ConnectionCase.address(10, 0, 0, 7))).isEqualTo("fake1 1");
    }

    @Test
    void theReasonsOfAllAreSaid() {
        fake.fail("ibv_open_device", 13, 2);
        assertThatThrownBy(() -> chosen(1, ANY))
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("no device can be used", "fake0", "fake1", "EACCES");
        assertThatThrownBy(() -> chosen(3, ANY)).hasMessageContainingAll("fake0 has no port 3", "fake1 has no port 3");
        assertThat(Rdma.openContexts()).isEqualTo(before);
    }

    /// Both make it of the same hardware address; only the scope tells them apart.
    @Test
    void aLinkLocalAddressOfAVlanIsTheEntryOfTheVlan() throws UnknownHostException {
        byte[] linkLocal = new byte[16];
        linkLocal[0] = (byte) 0xfe;
        linkLocal[1] = (byte) 0x80;
        try (Context context = devices.get(1).open()) {
            assertThat(context.preferredGidIndex(1, Inet6Address.getByAddress(null, linkLocal, 1001)))
                    .isZero();
            assertThat(context.preferredGidIndex(1, Inet6Address.getByAddress(null, linkLocal, 1002)))
                    .as("the VLAN")
                    .isEqualTo(1);
            assertThat(context.preferredGidIndex(1, Inet6Address.getByAddress(null, linkLocal, 7)))
                    .as("of an interface that the table does not name")
                    .isZero();
            assertThat(context.hasAddress(1, InetAddress.getByAddress(linkLocal)))
                    .isTrue();
            assertThat(context.hasAddress(1, ANY)).isFalse();
        }
    }
}
