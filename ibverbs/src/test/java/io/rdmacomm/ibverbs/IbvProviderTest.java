package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.RdmaProvider;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/// The provider on machines with and without a library, a device, and permission to open it.
class IbvProviderTest {
    private static final int ENOSYS = 38;

    @Test
    void isFoundAsAService() {
        // Others may be on the class path as well.
        assertThat(ServiceLoader.load(RdmaProvider.class))
                .extracting(RdmaProvider::name)
                .containsOnlyOnce("ibverbs");
    }

    @Test
    void worksOnThisMachine() {
        IbvProvider provider = new IbvProvider();
        System.out.println("ibverbs on this machine: " + provider.devices() + provider.unavailable());
        assertThat(provider.devices().isEmpty())
                .isEqualTo(provider.unavailable().isPresent());
    }

    @Test
    void reportsAnAbsentLibrary() {
        IbvProvider provider =
                new IbvProvider("libnobody-has-this.so.7", "librdmacm.so.1", Path.of("/dev/infiniband"), Path.of("/"));
        assertThat(provider.devices()).isEmpty();
        assertThat(provider.unavailable())
                .get()
                .asString()
                .startsWith("libnobody-has-this.so.7 is not installed")
                .contains("apt install", "-Drdmacomm.ibverbs.library")
                .doesNotContain("\n");
    }

    @Test
    void reportsAnotherLibrary() {
        Path other = CCompiler.compile("libother.so", "int other;\n", "-shared");
        assertThat(new IbvProvider(other.toString(), "librdmacm.so.1", Path.of("/"), Path.of("/")).unavailable())
                .get()
                .asString()
                .contains("has no ibv_get_device_list");
    }

    @Test
    void reportsThatThereIsNoDevice() {
        FakeVerbs fake = FakeVerbs.fresh();
        for (int errno : new int[] {0, ENOSYS}) {
            fake.devices(0, errno);
            assertThat(fake.provider().devices()).isEmpty();
            assertThat(fake.provider().unavailable())
                    .get()
                    .asString()
                    .startsWith("this machine has no RDMA device;")
                    .contains("rdma link add");
        }
        fake.devices(0, 5);
        assertThat(fake.provider().unavailable()).get().asString().contains("(errno 5)");
    }

    @Test
    void doesNotAskTheLibraryIfTheKernelHasNoDriver() {
        FakeVerbs fake = FakeVerbs.fresh();
        assertThat(fake.provider().devices()).hasSize(1);
        assertThat(fake.withoutDrivers().devices()).isEmpty();
    }

    @Test
    void reportsADeviceFileWithoutPermission() {
        IbvProvider nowhere = FakeVerbs.fresh().provider(Path.of("/nowhere"));
        assertThat(nowhere.devices()).isEmpty();
        assertThat(nowhere.unavailable()).get().asString().contains("no /nowhere/uverbs0", "--device=/nowhere");
    }

    @Test
    void listsAndOpensDevices() {
        FakeVerbs fake = FakeVerbs.fresh();
        Device device = fake.device();
        assertThat(fake.provider().unavailable()).isEmpty();
        assertThat(device.name()).isEqualTo("fake0");
        assertThat(device.provider()).isEqualTo("ibverbs");
        assertThat(device.guid()).isEqualTo(0x0102030405060708L);
        assertThat(device.transport()).isEqualTo(TransportType.INFINIBAND);
        device.open().close();
        assertThat(fake.log()).containsExactly("open fake0", "close context0");
    }

    @Test
    void reportsWhyADeviceCannotBeOpened() {
        FakeVerbs fake = FakeVerbs.fresh();
        Device device = fake.device();
        fake.fail("ibv_open_device", 13);
        assertThatThrownBy(device::open)
                .isInstanceOf(VerbException.class)
                .hasMessageContainingAll("ibv_open_device", "EACCES", "fake0", "/dev/infiniband");
        fake.devices(0, 0);
        assertThatThrownBy(device::open)
                .isInstanceOfSatisfying(
                        VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
    }
}
