package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The header in front of a datagram, and the path back to its sender.
class ReturnPathTest extends QueuePairFixture {
    private static final Gid OWN = Gid.of(InetAddress.ofLiteral("10.9.0.1"));
    private static final Gid PEER = Gid.of(InetAddress.ofLiteral("10.9.0.2"));
    private static final Gid OWN_6 = Gid.of(InetAddress.ofLiteral("fd00::1"));
    private static final Gid PEER_6 = Gid.of(InetAddress.ofLiteral("fd00::2"));

    /// 20 bytes that the adapter leaves, then type of service 0x60, TTL 7, UDP, a checksum, 10.9.0.2 to 10.9.0.1.
    private static final String IPV4 =
            "0000000000000000000000000000000000000000" + "4560004c1234400007111234" + "0a090002" + "0a090001";

    private MemorySegment buffer;

    @BeforeEach
    void onRoce() {
        device.linkLayer = LinkLayer.ETHERNET;
        device.gids.clear();
        device.gids.add(new GidEntry(0, OWN_6, GidType.ROCE_V1, 0));
        device.gids.add(new GidEntry(2, OWN_6, GidType.ROCE_V2, 0));
        device.gids.add(new GidEntry(3, OWN, GidType.ROCE_V1, 0));
        device.gids.add(new GidEntry(5, OWN, GidType.ROCE_V2, 0));
        buffer = arena.allocate(64);
        completions.size(1);
        MemorySegment completion = completions.segment();
        completion.set(JAVA_INT, CompletionLayout.OPCODE, CompletionOpcode.RECEIVE.code());
        completion.set(JAVA_INT, CompletionLayout.FLAGS, CompletionLayout.FLAG_GLOBAL_ROUTE);
        completion.set(JAVA_SHORT, CompletionLayout.SOURCE_LID, (short) 0xabcd);
        completion.set(JAVA_BYTE, CompletionLayout.SERVICE_LEVEL, (byte) 3);
    }

    private void header(String hex) {
        MemorySegment.copy(MemorySegment.ofArray(HexFormat.of().parseHex(hex)), 0, buffer, 0, hex.length() / 2);
    }

    private AddressVector path() {
        return context.pathBack(1, completions, 0, buffer);
    }

    private void write(Gid source, Gid destination) {
        GlobalRoutingHeader.write(buffer, source, destination, 0xe0, 0x12345, 9, 100);
    }

    @Test
    void overIpv4TheSenderIsInTheLast20Bytes() {
        header(IPV4);
        assertThat(GlobalRoutingHeader.read(buffer, 0))
                .isEqualTo(new GlobalRoutingHeader(4, PEER, OWN, 0x60, 0, 17, 7));
        assertThat(path()).isEqualTo(new AddressVector(PEER, 0xabcd, 5, 1, 3, 0x60, 64, 0));
    }

    @Test
    void aHeaderOfInfinibandIsReadAsItWasWritten() {
        write(PEER_6, OWN_6);
        assertThat(GlobalRoutingHeader.read(buffer, 0))
                .isEqualTo(new GlobalRoutingHeader(6, PEER_6, OWN_6, 0xe0, 0x12345, 0x1b, 9));
        assertThat(path()).isEqualTo(new AddressVector(PEER_6, 0xabcd, 0, 1, 3, 0xe0, 64, 0x12345));
    }

    @Test
    void overIpv6TheProtocolInsideTellsTheVersionOfRoce() {
        write(PEER_6, OWN_6);
        buffer.set(JAVA_BYTE, 6, (byte) 17);
        assertThat(path().sourceGidIndex()).isEqualTo(2);
    }

    @Test
    void aChecksumTellsIpv4FromIpv6IfBothArePossible() {
        write(PEER_6, OWN_6);
        buffer.set(JAVA_BYTE, 20, (byte) 0x45);
        assertThat(GlobalRoutingHeader.read(buffer, 0).version()).isEqualTo(6);
        header("60" + IPV4.substring(2));
        assertThat(GlobalRoutingHeader.read(buffer, 0).version()).isEqualTo(6);
        // RFC 1071: 4560+004c+1234+4000+0711+0a09+0002+0a09+0001 = b306, whose complement is 4cf9.
        header("60" + IPV4.substring(2, 60) + "4cf9" + IPV4.substring(64));
        assertThat(GlobalRoutingHeader.read(buffer, 0).source()).isEqualTo(PEER);
    }

    @Test
    void withoutAHeaderTheLidIsEnoughOnInfinibandOnly() {
        completions.segment().set(JAVA_INT, CompletionLayout.FLAGS, 0);
        assertThatThrownBy(this::path).hasMessageContaining("packets on Ethernet need one");
        device.linkLayer = LinkLayer.INFINIBAND;
        assertThat(path()).isEqualTo(new AddressVector(Gid.NONE, 0xabcd, 0, 1, 3, 0, 0, 0));
    }

    @Test
    void theAnswerToAMulticastComesFromThePreferredGid() {
        write(PEER, Gid.of(InetAddress.ofLiteral("239.1.2.3")));
        assertThat(path().sourceGidIndex()).isEqualTo(5);
    }

    @Test
    void aDatagramToAnotherGidIsNotAnswered() {
        write(PEER, Gid.of(InetAddress.ofLiteral("10.9.0.3")));
        assertThatThrownBy(this::path)
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("port 1 of null0 has no GID ::ffff:10.9.0.3");
    }

    @ParameterizedTest
    @ValueSource(strings = {"::ffff:239.1.2.3", "ff02::1", "::"})
    void aSenderWithoutAnAddressOfItsOwnIsNotAnswered(String sender) {
        write(gid(sender), OWN_6);
        assertThatThrownBy(this::path)
                .isInstanceOf(VerbException.class)
                .hasMessageContaining("which is not a unicast address");
    }

    private static Gid gid(String text) {
        return text.startsWith("::ffff:")
                ? Gid.of(InetAddress.ofLiteral(text.substring(7)))
                : Gid.of(InetAddress.ofLiteral(text));
    }

    @Test
    void onlyTheCompletionOfAReceivedDatagramHasASender() {
        header(IPV4);
        completions.segment().set(JAVA_INT, CompletionLayout.OPCODE, CompletionOpcode.SEND.code());
        assertThatThrownBy(this::path).hasMessageContaining("does not belong to a received datagram");
        completions.segment().set(JAVA_INT, CompletionLayout.OPCODE, CompletionOpcode.RECEIVE.code());
        completions.segment().set(JAVA_INT, CompletionLayout.STATUS, WorkStatus.FLUSHED.code());
        assertThatThrownBy(this::path).hasMessageContaining("does not belong to a received datagram");
    }

    @Test
    void aBufferThatIsTooShortIsRejected() {
        assertThatThrownBy(() -> GlobalRoutingHeader.read(MemorySegment.ofArray(new byte[39]), 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void anyBytesGiveAPathOrARefusal() {
        Random random = new Random(1);
        byte[] bytes = new byte[GlobalRoutingHeader.BYTES];
        for (int i = 0; i < 20_000; i++) {
            random.nextBytes(bytes);
            bytes[0] = (byte) (random.nextBoolean() ? 0x60 | (bytes[0] & 15) : bytes[0]);
            bytes[20] = random.nextBoolean() ? 0x45 : bytes[20];
            buffer.copyFrom(MemorySegment.ofArray(bytes));
            Throwable failure = catchThrowable(this::path);
            if (failure != null) {
                assertThat(failure).as(() -> HexFormat.of().formatHex(bytes)).isInstanceOf(VerbException.class);
            }
        }
    }

    @Test
    void anAddressHandleIsMadeFromACompletion() {
        header(IPV4);
        domain.createAddressHandle(1, completions, 0, buffer).close();
        assertThat(device.log).containsExactly("address " + new AddressVector(PEER, 0xabcd, 5, 1, 3, 0x60, 64, 0));
    }

    @Test
    void multicastGroupsAreThoseOfIpv6AndIpv4() {
        assertThat(gid("ff00::").isMulticast()).isTrue();
        assertThat(gid("fe80::1").isMulticast()).isFalse();
        assertThat(gid("::ffff:224.0.0.0").isMulticast()).isTrue();
        assertThat(gid("::ffff:239.255.255.255").isMulticast()).isTrue();
        assertThat(gid("::ffff:240.0.0.0").isMulticast()).isFalse();
        assertThat(gid("::ffff:223.255.255.255").isMulticast()).isFalse();
        assertThat(new Gid(1, 0xffff_e000_0001L).isMulticast()).isFalse();
    }
}
