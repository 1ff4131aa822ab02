package io.rdmacomm.soft.roce.mad;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `-Drdma.fuzz.seed=N` runs with the same values again.
class ManagementDatagramTest {
    private static final long SEED = Long.getLong("rdma.fuzz.seed", System.nanoTime());
    private static final int ROUNDS = 200;
    private static final int METHOD = 3;
    private static final int ATTRIBUTE = 16;

    private final Random random = new Random(SEED);
    private final RandomMessages messages = new RandomMessages(random);

    private ByteBuffer garbage() {
        byte[] bytes = new byte[ManagementDatagram.BYTES];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static ManagementDatagram decode(ByteBuffer bytes, String what) {
        ManagementDatagram decoded = ManagementDatagram.decode(bytes);
        assertThat(decoded).as(what).isNotNull();
        return decoded;
    }

    /// So no two fields share a bit, and none is left out.
    @Test
    void messagesComeBack() {
        for (int round = 0; round < ROUNDS; round++) {
            for (ConnectionMessage message : messages.all()) {
                String what = "seed " + SEED + ", " + message;
                ManagementDatagram sent = new ManagementDatagram(random.nextLong(), message);
                ByteBuffer bytes = garbage();
                sent.encode(bytes);
                assertThat(decode(bytes, what))
                        .as(what)
                        .usingRecursiveComparison()
                        .isEqualTo(sent);
                assertThat(bytes.position()).as(what).isZero();
                assertThat(bytes.limit()).as(what).isEqualTo(ManagementDatagram.BYTES);
            }
        }
    }

    @Test
    void eachKindOfMessageHasItsOwnNumber() {
        Set<Integer> attributes = new HashSet<>();
        for (ConnectionMessage message : messages.all()) {
            assertThat(attributes.add(message.attribute())).as("" + message).isTrue();
        }
        assertThat(attributes).containsExactlyInAnyOrder(0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18);
    }

    /// LAP, APR, class port information, and nothing at all.
    @ParameterizedTest
    @ValueSource(ints = {0x19, 0x1a, 0x01, 0x0f, 0, 0xffff, 0x0110})
    void otherMessagesAreNotUnderstood(int attribute) {
        ByteBuffer bytes = garbage();
        new ManagementDatagram(1, new ReadyToUse(2, 3)).encode(bytes);
        bytes.putShort(ATTRIBUTE, (short) attribute);
        assertThat(ManagementDatagram.decode(bytes)).isNull();
    }

    @Test
    void otherClassesVersionsAndMethodsAreNotUnderstood() {
        ByteBuffer bytes = garbage();
        for (int at = 0; at <= METHOD; at++) {
            new ManagementDatagram(1, new ReadyToUse(2, 3)).encode(bytes);
            bytes.put(at, (byte) (bytes.get(at) ^ 0x80));
            assertThat(ManagementDatagram.decode(bytes)).as("byte " + at).isNull();
        }
    }

    @Test
    void garbageIsDecodedOrNot() {
        for (int round = 0; round < ROUNDS; round++) {
            for (ConnectionMessage message : messages.all()) {
                ByteBuffer bytes = garbage();
                bytes.putInt(0, 0x01070203).putShort(ATTRIBUTE, (short) message.attribute());
                String what = "seed " + SEED + ", kind 0x" + Integer.toHexString(message.attribute());
                ManagementDatagram found = decode(bytes, what);
                ByteBuffer again = garbage();
                found.encode(again);
                assertThat(decode(again, what))
                        .as(what)
                        .usingRecursiveComparison()
                        .isEqualTo(found);
            }
        }
    }

    @Test
    void requestsWithoutAddressesOfIpv4HaveNone() {
        Random zeros = new Random(SEED);
        for (ConnectionMessage message : new RandomMessages(zeros).all()) {
            int at = switch (message) {
                case ConnectRequest _ -> ManagementDatagram.HEADER_BYTES + 140;
                case ServiceRequest _ -> ManagementDatagram.HEADER_BYTES + 16;
                default -> 0;
            };
            if (at != 0) {
                for (int version : new int[] {0x0060, 0x0000, 0x0140}) {
                    ByteBuffer bytes = garbage();
                    new ManagementDatagram(1, message).encode(bytes);
                    bytes.putShort(at, (short) version);
                    assertThat(decode(bytes, "").message())
                            .as("version %04x", version)
                            .hasFieldOrPropertyWithValue("addresses", null);
                }
            }
        }
    }

    /// Before anything is sent, or remembered.
    @Test
    void privateDataThatIsTooLongIsRefusedAtOnce() {
        ReadDepths depths = new ReadDepths(1, 1);
        Gid gid = Gid.ofIpv4(1);
        assertThatThrownBy(() ->
                        new ConnectRequest(1, 2, 3, 4, 5, depths, true, 3, 7, 7, 14, 0, gid, gid, null, new byte[57]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("57 bytes of private data, at most 56");
        assertThatThrownBy(() -> new ConnectReply(1, 2, 3, 4, depths, 7, 5, new byte[197]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Rejection(1, 2, MessageKind.REQUEST, 28, 0, new byte[149]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ServiceRequest(1, 2, null, new byte[181]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ServiceReply(1, 2, 3, 4, 5, new byte[137]))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /// Additional information with a length, which Linux looks into.
    @Test
    void aRejectionNamesTheAdapterThatGivesUp() {
        ByteBuffer bytes = garbage();
        Rejection rejection =
                new Rejection(1, 0, MessageKind.REQUEST, Rejection.TIMEOUT, 0x1122_3344_5566_7788L, new byte[0]);
        new ManagementDatagram(1, rejection).encode(bytes);
        assertThat(bytes.get(24 + 9)).isEqualTo((byte) (8 << 1));
        assertThat(bytes.getLong(24 + 12)).isEqualTo(0x1122_3344_5566_7788L);
        bytes.put(24 + 9, (byte) (6 << 1));
        assertThat(((Rejection) decode(bytes, "").message()).guid()).isZero();
    }

    @Test
    void shorterPrivateDataIsPadded() {
        ByteBuffer bytes = garbage();
        new ManagementDatagram(1, new Rejection(1, 2, MessageKind.REQUEST, 28, 0, new byte[] {1, 2, 3})).encode(bytes);
        assertThat(((Rejection) decode(bytes, "").message()).privateData())
                .hasSize(148)
                .startsWith(1, 2, 3, 0);
    }

    @Test
    void servicesAreFoundByTheirPort() {
        assertThat(PortSpace.CONNECTIONS.service(0xffff)).isEqualTo(0x0106_ffffL);
        assertThat(PortSpace.DATAGRAMS.service(1)).isEqualTo(0x0111_0001L);
        assertThat(PortSpace.port(0x0106_8001L)).isEqualTo(0x8001);
        for (PortSpace space : PortSpace.values()) {
            for (PortSpace other : PortSpace.values()) {
                assertThat(space.contains(other.service(0x8001))).isEqualTo(space == other);
            }
            // RDMA_PS_IB and RDMA_PS_IPOIB, and those of other users.
            for (long service : new long[] {0x013f_8001L, 0x0002_8001L, 0x1_0106_8001L, -1, 0}) {
                assertThat(space.contains(service)).isFalse();
            }
        }
    }
}
