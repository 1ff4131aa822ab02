package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Reconnect;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/// A port of RoCE whose addresses are removed and come back, as when it was down: the entries of its GID table
/// move. Each case has its own device.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it changes devices: lab/suite lab")
class MovedAddressTest {
    private static final String DEVICE = "rxe8";
    private static final String ADDRESS = "10.6.0.5";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Reconnect QUICKLY = Reconnect.defaults()
            .withPauses(Duration.ofMillis(20), Duration.ofMillis(200))
            .withAfterPeerDone(true);

    @BeforeEach
    void plugIn() {
        Shell.run("ip link add g0 type veth peer name g1");
        for (int host = 1; host <= 5; host++) {
            Shell.run("ip addr add 10.6.0." + host + "/24 dev g0");
        }
        Shell.run("ip link set g0 up && ip link set g1 up");
        Shell.run("rdma link add " + DEVICE + " type rxe netdev g0");
        Deadline.await(
                "the device is active",
                () -> Shell.text("rdma link show " + DEVICE + "/1").contains("state ACTIVE"));
    }

    @AfterEach
    void unplug() {
        Shell.tryTo("rdma link del " + DEVICE);
        Shell.tryTo("ip link del g0");
        Deadline.await(
                "nothing is left",
                () -> Rdma.devices().stream().map(Device::name).noneMatch(DEVICE::equals));
    }

    private static Optional<Integer> index(Context context) {
        return context.gidTable(1).stream()
                .filter(entry -> entry.gid().toString().endsWith(":" + ADDRESS))
                .map(GidEntry::index)
                .findFirst();
    }

    @Test
    void aClientReconnectsWhenTheEntriesOfTheGidTableHaveMoved() {
        SessionOptions options = SessionOptions.defaults().withDevice(DEVICE).withAddress(ADDRESS, 0);
        try (Context looker = Rdma.open(DEVICE);
                ServerSession server = ServerSession.listen(options);
                ClientSession client =
                        ClientSession.connect(options.withPort(server.port()).withReconnect(QUICKLY))) {
            EndPoint first = client.endPoint();
            EndPoint served = server.accept(TIMEOUT);
            int before = index(looker).orElseThrow();

            Shell.run("ip addr flush dev g0 scope global");
            Deadline.await("the entry is gone", () -> index(looker).isEmpty());
            Shell.run("ip addr add " + ADDRESS + "/24 dev g0");
            Deadline.await("the entry is back", () -> index(looker).isPresent());
            assertThat(index(looker).orElseThrow()).as("it has moved").isNotEqualTo(before);
            served.close();

            Deadline.await("the client has another endpoint", () -> client.endPoint() != first);
            EndPoint there = server.accept(TIMEOUT);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> there.barrier(TIMEOUT));
            client.awaitEndPoint(TIMEOUT).barrier(TIMEOUT);
            other.join();
        }
    }

    /// Before, an empty entry was sent as a GID of zeros.
    @Test
    void withoutAnAddressTheReasonIsNamed() {
        SessionOptions options = SessionOptions.defaults().withDevice(DEVICE).withAddress("127.0.0.1", 0);
        try (Context looker = Rdma.open(DEVICE);
                ServerSession server = ServerSession.listen(options)) {
            int before = index(looker).orElseThrow();
            Shell.run("ip addr flush dev g0 scope global");
            Deadline.await("the entry is gone", () -> index(looker).isEmpty());
            SessionOptions there = options.withPort(server.port());
            SessionOptions chosen = there.withChannel(there.channel()
                    .withConnection(there.channel()
                            .connection()
                            .withPath(there.channel().connection().path().withGidIndex(before))));
            assertThatThrownBy(() -> ClientSession.connect(chosen).close())
                    .isInstanceOfAny(VerbException.class, RdmaException.class)
                    .hasMessageContaining("ENODATA")
                    .hasMessageContaining("is empty");
        }
    }

    @Test
    void aPortThatIsDownIsSeenAtTheNextEndPoint() {
        SessionOptions options = SessionOptions.defaults().withDevice(DEVICE).withAddress("127.0.0.1", 0);
        try (ServerSession server = ServerSession.listen(options);
                ClientSession _ = ClientSession.connect(options.withPort(server.port()))) {
            Shell.run("ip link set g0 down");
            assertThatThrownBy(() -> ClientSession.connect(
                                    options.withDevice("rxe0").withPort(server.port()))
                            .close())
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("port 1 of " + DEVICE)
                    .hasMessageContaining("DOWN");
        }
    }

    /// The driver wants to write to it, whatever the rights are.
    @Test
    void memoryThatIsMappedReadOnlyIsRefusedWithTheReason(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("file"), new byte[4096]);
        try (Context context = Rdma.open(DEVICE);
                ProtectionDomain domain = context.allocateProtectionDomain();
                Arena arena = Arena.ofShared();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment memory = channel.map(FileChannel.MapMode.READ_ONLY, 0, 4096, arena);
            assertThatThrownBy(() -> register(domain, memory))
                    .isInstanceOfSatisfying(
                            VerbException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EFAULT))
                    .hasMessageContaining("map it for reading and writing");
        }
    }

    private static void register(ProtectionDomain domain, MemorySegment memory) {
        try (MemoryRegion region = domain.register(memory, EnumSet.noneOf(AccessFlag.class))) {
            assertThat(region.isOpen()).isTrue();
        }
    }
}
