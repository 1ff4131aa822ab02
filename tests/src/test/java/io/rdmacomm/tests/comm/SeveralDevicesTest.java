package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Sessions that name no device, on a machine that has one for each of two addresses.
@ExtendWith(LeakCheck.class)
class SeveralDevicesTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final SessionOptions OPTIONS = SessionOptions.defaults();

    private String before;

    @BeforeEach
    void twoDevices() {
        before = System.setProperty(DEVICES, "near0=127.0.0.1,near1=127.0.0.2");
        if (!Rdma.devices().stream().map(Device::provider).allMatch("soft"::equals)) {
            throw LeftOut.because(SeveralDevicesTest.class, "this machine has hardware, which comes first");
        }
    }

    @AfterEach
    void restore() {
        if (before == null) {
            System.clearProperty(DEVICES);
        } else {
            System.setProperty(DEVICES, before);
        }
    }

    private static String device(SessionOptions options) {
        try (ServerSession server = ServerSession.listen(options)) {
            return server.context().device().name();
        }
    }

    @Test
    void aServerTakesTheDeviceWithItsAddress() {
        assertThat(device(OPTIONS.withAddress("127.0.0.2", 0))).isEqualTo("near1");
        assertThat(device(OPTIONS.withAddress("127.0.0.1", 0))).isEqualTo("near0");
        assertThat(device(OPTIONS.withAllAddresses().withPort(0)))
                .as("all addresses")
                .isEqualTo("near0");
        assertThat(device(OPTIONS.withPort(0))).as("loopback").isEqualTo("near0");
        assertThat(device(OPTIONS.withAddress("127.0.0.2", 0).withDevice("near0")))
                .as("a name counts more")
                .isEqualTo("near0");
    }

    @Test
    void aClientTakesTheDeviceWithTheAddressOfItsPackets() {
        System.setProperty(DEVICES, "near1=127.0.0.2,near0=127.0.0.1");
        try (ServerSession server = ServerSession.listen(OPTIONS.withAddress("127.0.0.2", 0));
                ClientSession client = ClientSession.connect(OPTIONS.withAddress("127.0.0.2", server.port()))) {
            assertThat(server.context().device().name()).isEqualTo("near1");
            assertThat(client.context().device().name())
                    .as("packets to 127.0.0.2 come from 127.0.0.1")
                    .isEqualTo("near0");
            try (EndPoint accepted = server.accept(TIMEOUT)) {
                assertThat(accepted.channels()).hasSize(1);
            }
        }
    }
}
