package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferPool;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Lease;
import io.rdmacomm.comm.LeaseExpiredException;
import io.rdmacomm.comm.Piece;
import io.rdmacomm.comm.PoolOptions;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.Read;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.DeviceAddress;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/// READs of sessions on each kind of device: lists, several targets for one READ, and leases.
@ParameterizedClass(name = "{0}")
@MethodSource("io.rdmacomm.tests.fixture.Fabric#providers")
@ExtendWith(LeakCheck.class)
class SessionReadTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int BYTES = 1 << 16;
    private static final Set<AccessFlag> READABLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);

    @Parameter
    private Fabric fabric;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private ServerSession server;
    private EndPoint client;
    private RdmaBuffer target;

    private RdmaChannel connect() {
        String address;
        try (LocalEnd end = LocalEnd.open(fabric.device())) {
            address = DeviceAddress.of(end.context()).getHostAddress();
        }
        SessionOptions options =
                SessionOptions.defaults().withDevice(fabric.device()).withAddress(address, 0);
        server = ServerSession.listen(options);
        open.add(server);
        ClientSession session = ClientSession.connect(options.withPort(server.port()));
        open.add(session);
        client = session.endPoint();
        target = session.allocate("target", BYTES);
        return client.channel(0);
    }

    @Test
    void readsOfAListFillAllTheirTargets() {
        RdmaChannel channel = connect();
        long seed = System.nanoTime();
        System.out.println("SessionReadTest: seed " + seed);
        Random random = new Random(seed);
        RdmaBuffer source = server.allocate("source", BYTES);
        byte[] content = new byte[BYTES];
        random.nextBytes(content);
        source.segment().copyFrom(MemorySegment.ofArray(content));
        server.accept(TIMEOUT).announce(source, Set.of(AccessFlag.REMOTE_READ));
        RemoteBuffer remote = client.peerBuffer("source", TIMEOUT);
        for (int round = 0; round < 50; round++) {
            target.segment().fill((byte) 0);
            List<Read> list = new ArrayList<>();
            for (int at = 0; at < BYTES; ) {
                int from = at;
                List<BufferSlice> into = new ArrayList<>();
                int slices = 1 + random.nextInt(channel.maxReadTargets());
                for (int i = 0; i < slices && at < BYTES; i++) {
                    int length = Math.min(1 + random.nextInt(3000), BYTES - at);
                    into.add(target.slice(at, length));
                    at += length;
                }
                list.add(new Read(into, remote, from));
            }

            channel.blocking(TIMEOUT).read(list);

            assertThat(target.segment().mismatch(source.segment()))
                    .as("seed %d", seed)
                    .isEqualTo(-1);
        }
        int most = channel.maxReadTargets();
        List<BufferSlice> more = new ArrayList<>();
        for (int i = 0; i <= most; i++) {
            more.add(target.slice(8L * i, 8));
        }
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).read(List.of(new Read(more, remote, 0))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(most));
    }

    /// The memory has another value after the lease, and a late READ harms nobody.
    @Test
    void aReadAfterItsLeaseFailsAlone() {
        RdmaChannel channel = connect();
        // Room for one piece.
        BufferPool pool = server.pool("values", PoolOptions.of(BYTES), READABLE);
        Piece piece = pool.take(BYTES, TIMEOUT);
        piece.segment().fill((byte) 1);
        RemoteBuffer value = piece.asRemote();
        BufferSlice into = target.slice(0, BYTES);
        Duration term = Duration.ofMillis(50);
        Lease lease;
        do {
            // An emulated processor needs longer.
            term = term.multipliedBy(2);
            lease = Lease.begin(term);
            channel.blocking(TIMEOUT).read(into, value, 0);
        } while (lease.isOver());
        piece.releaseAfter(Lease.grace(term));
        Piece next = pool.take(BYTES, TIMEOUT);
        next.segment().fill((byte) 2);

        assertThat(into.segment().mismatch(MemorySegment.ofArray(filled(1)))).isEqualTo(-1);
        channel.blocking(TIMEOUT).read(into, value, 0);
        assertThat(into.segment().mismatch(MemorySegment.ofArray(filled(2)))).isEqualTo(-1);
        assertThatThrownBy(lease::check).isInstanceOf(LeaseExpiredException.class);
        assertThat(client.state()).isEqualTo(EndPointState.READY);
    }

    private static byte[] filled(int value) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
