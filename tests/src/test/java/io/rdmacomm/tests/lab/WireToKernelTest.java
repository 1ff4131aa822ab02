package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Frames that the kernel's siw accepts, and how it rejects others. The peer is a plain socket, so this test is the
/// reference for the fake siw in the tests of the software device (`SiwPeer*Test` of the module soft).
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs siw0: lab/suite lab")
class WireToKernelTest {
    private static final String KERNEL = "10.8.0.1";
    private static final String PLAIN = "1002 0004 0001 0001";
    private static final String CHECKED = "5002 0004 0001 0001";
    private static final int HALF = 128 * 1024;
    private static final int RECEIVE = 64 * 1024;
    private static final long GAP_MILLIS = 2;
    private static final byte[] HELLO = {'h', 'e', 'l', 'l', 'o'};

    private LocalEnd end;
    private LocalQueue queue;
    private LocalMemory memory;
    private RawPeer peer;

    @BeforeEach
    void open() {
        end = LocalEnd.open("siw0");
        queue = end.queue(Spec.usual());
        memory = end.allocate(2 * HALF, AccessFlag.allRemote());
    }

    @AfterEach
    void close() throws IOException {
        try (LocalEnd _ = end) {
            if (peer != null) {
                peer.close();
            }
        }
    }

    /// Posts receive number 1, connects with this request and checks siw's reply.
    private void call(String request) throws IOException {
        call(request, Integer.MAX_VALUE);
    }

    /// Sends the request in pieces.
    private void call(String request, int each) throws IOException {
        queue.initialize(ConnectionOptions.defaults());
        receive(1);
        int port = queue.acceptAt(KERNEL, ConnectionOptions.defaults());
        peer = RawPeer.to(KERNEL, port);
        sayInPieces(RawPeer.request(request), each);
        assertThat(peer.reply()).isEqualTo(request.replace(" ", ""));
        queue.awaitAccepted();
        if (request.equals(CHECKED)) {
            peer.useChecksum();
        }
    }

    /// Sends bytes in pieces, with a pause in which siw has only the bytes sent so far.
    private void sayInPieces(byte[] bytes, int each) throws IOException {
        for (int from = 0; from < bytes.length; from += Math.min(each, bytes.length)) {
            peer.sayBytes(bytes, from, (int) Math.min(bytes.length, (long) from + each));
            Deadline.until(GAP_MILLIS, () -> false);
        }
    }

    private void receive(long id) {
        queue.postReceive(id, List.of(memory.piece(HALF, RECEIVE)));
    }

    private void assertReceived(long id, byte[] message) {
        Outcome outcome = queue.one();
        assertThat(outcome.status()).isEqualTo(WorkStatus.SUCCESS);
        assertThat(outcome.id()).isEqualTo(id);
        assertThat(outcome.bytes()).isEqualTo(message.length);
        assertThat(Arrays.equals(memory.read(HALF, message.length), message))
                .as("the received bytes")
                .isTrue();
    }

    private void assertFlushed(long id) {
        Outcome outcome = queue.one();
        assertThat(outcome.status()).isEqualTo(WorkStatus.FLUSHED);
        assertThat(outcome.id()).isEqualTo(id);
    }

    /// siw sends a Terminate in its own bit order and ends the connection.
    private TerminateMessage assertTerminates(TerminateCode code) throws IOException {
        TerminateMessage terminate = peer.hearTerminate();
        assertThat(terminate.code).as(terminate.toString()).isEqualTo(code);
        peer.awaitEnd();
        return terminate;
    }

    private int key() {
        return memory.remote().key();
    }

    // ---- Accepted frames ----

    /// Splits the request into three pieces and a frame into two, at every position. A request in many pieces is
    /// sometimes lost, because siw has room for only four events before a connection is established.
    @Test
    void headersInPieces() throws Exception {
        call(PLAIN, 10);
        peer.say(RawPeer.send(1, HELLO));
        assertReceived(1, HELLO);
        int length = peer.frame(RawPeer.send(2, HELLO)).length;
        for (int cut = 1; cut < length; cut++) {
            int number = cut + 1;
            receive(number);
            byte[] frame = peer.frame(RawPeer.send(number, HELLO));
            peer.sayBytes(frame, 0, cut);
            Deadline.until(GAP_MILLIS, () -> false);
            peer.sayBytes(frame, cut, length);
            assertReceived(number, HELLO);
        }
    }

    /// Frames that fit into an Ethernet TCP segment, and the longest frames that the length field allows.
    @ParameterizedTest
    @CsvSource({PLAIN + ", 1428", PLAIN + ", 65520", CHECKED + ", 1428", CHECKED + ", 65520"})
    void framesOfAllSizes(String request, int each) throws Exception {
        call(request);
        byte[] data = new byte[100_000];
        new Random(each).nextBytes(data);
        long address = memory.address();
        for (int from = 0; from < data.length; from += each) {
            int to = Math.min(data.length, from + each);
            peer.say(RawPeer.write(to == data.length, key(), address + from, Arrays.copyOfRange(data, from, to)));
        }
        byte[] message = Arrays.copyOf(data, RECEIVE - 100);
        int longest = Math.min(each, 65516);
        for (int from = 0; from < message.length; from += longest) {
            int to = Math.min(message.length, from + longest);
            peer.say(RawPeer.send(1, to == message.length, from, Arrays.copyOfRange(message, from, to)));
        }
        assertReceived(1, message);
        assertThat(Arrays.equals(memory.read(0, data.length), data))
                .as("the written bytes")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {PLAIN, CHECKED})
    void acceptsMessagesOfZeroBytes(String request) throws Exception {
        call(request);
        // The key of a Write or Read of zero bytes is not checked.
        peer.say(
                RawPeer.write(true, 0xbad, 0, new byte[0]),
                RawPeer.readRequest(1, 0, 0xbad, 0),
                RawPeer.send(1, new byte[0]));
        assertThat(peer.hear()).isEqualTo(RawPeer.segment("c142 aabbcc00 0000000000001000"));
        assertReceived(1, new byte[0]);
    }

    @Test
    void answersAReadFromTheRequestedAddress() throws Exception {
        call(CHECKED);
        memory.write(8, HELLO);
        for (int number = 1; number <= 3; number++) {
            peer.say(RawPeer.readRequest(number, HELLO.length, key(), memory.address() + 8));
            assertThat(peer.hear()).isEqualTo(RawPeer.segment("c142 aabbcc00 0000000000001000", HELLO));
        }
    }

    // ---- Rejected frames ----

    /// The sides agreed on one Read. siw accepts a second one but does enforce a limit. If it is in the middle of a
    /// response, it ends the connection without a Terminate.
    @Test
    void moreReadsThanAgreed() throws Exception {
        call(PLAIN);
        byte[][] requests = new byte[300][];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = RawPeer.readRequest(i + 1, RECEIVE, key(), memory.address());
        }
        peer.say(requests);
        peer.awaitEnd();
        assertFlushed(1);
    }

    /// Immediate Data with and without solicited event, Atomic Request and Response (RFC 7306), our own
    /// extensions, and an undefined opcode.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "4148 00000000 00000000 00000001 00000000 0000006300000000",
                "4149 00000000 00000000 00000001 00000000 0000006300000000",
                "414a 00000000 00000001 00000001 00000000 00000000 00000007 00000100 0000000000001000"
                        + "0000000000000001 0000000000000000 0000000000000000 0000000000000000",
                "414b 00000000 00000003 00000001 00000000 00000007 0000000000000000",
                "414c 00000063 00000000 00000001 00000000",
                "414e 00000000 00000004 00000001 00000000 0000000000000000",
                "414f 00000000 00000000 00000001 00000000"
            })
    void rejectsUnknownOpcodes(String segment) throws Exception {
        call(PLAIN);
        peer.say(RawPeer.segment(segment));
        assertTerminates(TerminateCode.UNEXPECTED_OPCODE);
        assertFlushed(1);
    }

    @Test
    void rejectsASendWithoutAReceive() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(1, HELLO), RawPeer.send(2, HELLO));
        TerminateMessage terminate = assertTerminates(TerminateCode.NO_RECEIVE);
        assertThat(terminate.causeNumber).isEqualTo(2);
        assertReceived(1, HELLO);
    }

    /// The RFC has a separate code, but siw uses the one for a missing receive.
    @Test
    void rejectsASendThatIsTooLong() throws Exception {
        call(PLAIN);
        byte[] half = new byte[RECEIVE / 2 + 1];
        peer.say(RawPeer.send(1, false, 0, half), RawPeer.send(1, true, half.length, half));
        assertTerminates(TerminateCode.NO_RECEIVE);
        assertThat(queue.one().status()).isIn(WorkStatus.LOCAL_LENGTH_ERROR, WorkStatus.FLUSHED);
    }

    @Test
    void rejectsAWriteWithAForgedKey() throws Exception {
        assertWriteRefused(key() ^ 0x5a5a00, memory.address(), TerminateCode.TAGGED_INVALID_KEY);
    }

    @Test
    void rejectsAWriteBeyondTheRegion() throws Exception {
        assertWriteRefused(key(), memory.address() + 2L * HALF - 4, TerminateCode.TAGGED_OUT_OF_BOUNDS);
    }

    @Test
    void rejectsAWriteToAnotherDomain() throws Exception {
        LocalMemory other = end.allocateInOtherDomain(64, AccessFlag.allRemote());
        assertWriteRefused(other.remote().key(), other.address(), TerminateCode.TAGGED_OTHER_DOMAIN);
    }

    @Test
    void rejectsAWriteWithoutTheAccessRight() throws Exception {
        LocalMemory closed = end.allocate(64, Set.of(AccessFlag.LOCAL_WRITE));
        assertWriteRefused(closed.remote().key(), closed.address(), TerminateCode.TAGGED_INVALID_KEY);
        assertThat(closed.read(0, 64)).containsOnly(0);
    }

    private void assertWriteRefused(int key, long address, TerminateCode code) throws IOException {
        call(PLAIN);
        peer.say(RawPeer.write(true, key, address, HELLO));
        TerminateMessage terminate = assertTerminates(code);
        assertThat(terminate.causeKey).isEqualTo(key);
        assertThat(terminate.causeAddress).isEqualTo(address);
        assertFlushed(1);
        assertThat(Arrays.equals(memory.read(0, 2 * HALF), new byte[2 * HALF]))
                .as("the memory is untouched")
                .isTrue();
    }

    @Test
    void rejectsAReadWithAForgedKey() throws Exception {
        assertReadRefused(key() ^ 0x5a5a00, memory.address(), TerminateCode.INVALID_KEY);
    }

    @Test
    void rejectsAReadBeyondTheRegion() throws Exception {
        assertReadRefused(key(), memory.address() + 2L * HALF - 4, TerminateCode.OUT_OF_BOUNDS);
    }

    @Test
    void rejectsAReadFromAnotherDomain() throws Exception {
        LocalMemory other = end.allocateInOtherDomain(64, AccessFlag.allRemote());
        assertReadRefused(other.remote().key(), other.address(), TerminateCode.OTHER_DOMAIN);
    }

    private void assertReadRefused(int key, long address, TerminateCode code) throws IOException {
        call(PLAIN);
        peer.say(RawPeer.readRequest(1, 8, key, address));
        assertTerminates(code);
        assertFlushed(1);
    }

    @Test
    void rejectsAWrongChecksum() throws Exception {
        call(CHECKED);
        byte[] frame = peer.frame(RawPeer.send(1, HELLO));
        frame[frame.length - 1] ^= 1;
        peer.sayBytes(frame, 0, frame.length);
        assertTerminates(TerminateCode.CHECKSUM);
    }

    @Test
    void rejectsAMessageOutOfOrder() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(2, HELLO));
        assertTerminates(TerminateCode.MESSAGE_NUMBER);
        assertThat(queue.one().status()).isEqualTo(WorkStatus.GENERAL_ERROR);
    }

    // ---- Disconnects ----

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 10, 22, 24})
    void disconnectsInsideAFrame(int cut) throws Exception {
        call(PLAIN);
        peer.sayBytes(peer.frame(RawPeer.send(1, HELLO)), 0, cut);
        peer.close();
        assertFlushed(1);
    }

    @Test
    void disconnectsInsideAMessage() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(1, false, 0, HELLO));
        peer.close();
        assertFlushed(1);
    }
}
