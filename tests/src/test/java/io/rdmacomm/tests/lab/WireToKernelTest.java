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

/// What the kernel's siw takes from the wire and how it refuses the rest, frame by frame. On the other side is a
/// socket, so this is what the software device's fake siw (`SiwPeer*Test` of the module soft) is measured by.
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

    /// Connects; siw answers what was asked for. One receive, number 1, is posted.
    private void call(String request) throws IOException {
        call(request, Integer.MAX_VALUE);
    }

    /// The request comes in pieces.
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

    /// With a moment between them in which siw has no more than what was said.
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
                .as("the bytes that came")
                .isTrue();
    }

    private void assertFlushed(long id) {
        Outcome outcome = queue.one();
        assertThat(outcome.status()).isEqualTo(WorkStatus.FLUSHED);
        assertThat(outcome.id()).isEqualTo(id);
    }

    /// siw says why it gives up, in its own order of bits, and ends the connection.
    private TerminateMessage assertTerminates(TerminateCode code) throws IOException {
        TerminateMessage terminate = peer.hearTerminate();
        assertThat(terminate.code).as(terminate.toString()).isEqualTo(code);
        peer.awaitEnd();
        return terminate;
    }

    private int key() {
        return memory.remote().key();
    }

    // ---- What it takes ----

    /// The request comes in three pieces, and a frame in two, with every place between them. A request in many
    /// pieces is lost now and then: siw has room for four events of a connection that is not made yet.
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

    /// Frames that fit into a TCP segment of Ethernet, and the longest that the length field can express.
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
                .as("the bytes that were written")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {PLAIN, CHECKED})
    void nothingIsAMessageToo(String request) throws Exception {
        call(request);
        // Nobody looks at the key of a Write and of a Read of nothing.
        peer.say(
                RawPeer.write(true, 0xbad, 0, new byte[0]),
                RawPeer.readRequest(1, 0, 0xbad, 0),
                RawPeer.send(1, new byte[0]));
        assertThat(peer.hear()).isEqualTo(RawPeer.segment("c142 aabbcc00 0000000000001000"));
        assertReceived(1, new byte[0]);
    }

    @Test
    void aReadIsAnsweredFromWhereItAsked() throws Exception {
        call(CHECKED);
        memory.write(8, HELLO);
        for (int number = 1; number <= 3; number++) {
            peer.say(RawPeer.readRequest(number, HELLO.length, key(), memory.address() + 8));
            assertThat(peer.hear()).isEqualTo(RawPeer.segment("c142 aabbcc00 0000000000001000", HELLO));
        }
    }

    // ---- What it refuses ----

    /// One Read was agreed on; it is not the second that is too many, but siw does count. It may be in the middle
    /// of a response, and then it says nothing before it ends.
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
    /// extensions, and what nobody has.
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
    void opcodesThatItDoesNotKnow(String segment) throws Exception {
        call(PLAIN);
        peer.say(RawPeer.segment(segment));
        assertTerminates(TerminateCode.UNEXPECTED_OPCODE);
        assertFlushed(1);
    }

    @Test
    void aSendWithoutReceive() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(1, HELLO), RawPeer.send(2, HELLO));
        TerminateMessage terminate = assertTerminates(TerminateCode.NO_RECEIVE);
        assertThat(terminate.causeNumber).isEqualTo(2);
        assertReceived(1, HELLO);
    }

    /// The RFC has a code for it, siw uses that of a missing receive.
    @Test
    void aSendThatIsTooLong() throws Exception {
        call(PLAIN);
        byte[] half = new byte[RECEIVE / 2 + 1];
        peer.say(RawPeer.send(1, false, 0, half), RawPeer.send(1, true, half.length, half));
        assertTerminates(TerminateCode.NO_RECEIVE);
        assertThat(queue.one().status()).isIn(WorkStatus.LOCAL_LENGTH_ERROR, WorkStatus.FLUSHED);
    }

    @Test
    void aWriteWithAForgedKey() throws Exception {
        assertWriteRefused(key() ^ 0x5a5a00, memory.address(), TerminateCode.TAGGED_INVALID_KEY);
    }

    @Test
    void aWriteBeyondTheRegion() throws Exception {
        assertWriteRefused(key(), memory.address() + 2L * HALF - 4, TerminateCode.TAGGED_OUT_OF_BOUNDS);
    }

    @Test
    void aWriteToAnotherDomain() throws Exception {
        LocalMemory other = end.allocateInOtherDomain(64, AccessFlag.allRemote());
        assertWriteRefused(other.remote().key(), other.address(), TerminateCode.TAGGED_OTHER_DOMAIN);
    }

    @Test
    void aWriteWithoutTheRight() throws Exception {
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
    void aReadWithAForgedKey() throws Exception {
        assertReadRefused(key() ^ 0x5a5a00, memory.address(), TerminateCode.INVALID_KEY);
    }

    @Test
    void aReadBeyondTheRegion() throws Exception {
        assertReadRefused(key(), memory.address() + 2L * HALF - 4, TerminateCode.OUT_OF_BOUNDS);
    }

    @Test
    void aReadFromAnotherDomain() throws Exception {
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
    void aWrongChecksum() throws Exception {
        call(CHECKED);
        byte[] frame = peer.frame(RawPeer.send(1, HELLO));
        frame[frame.length - 1] ^= 1;
        peer.sayBytes(frame, 0, frame.length);
        assertTerminates(TerminateCode.CHECKSUM);
    }

    @Test
    void aMessageOutOfTurn() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(2, HELLO));
        assertTerminates(TerminateCode.MESSAGE_NUMBER);
        assertThat(queue.one().status()).isEqualTo(WorkStatus.GENERAL_ERROR);
    }

    // ---- How it ends ----

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 10, 22, 24})
    void theEndInsideAFrame(int cut) throws Exception {
        call(PLAIN);
        peer.sayBytes(peer.frame(RawPeer.send(1, HELLO)), 0, cut);
        peer.close();
        assertFlushed(1);
    }

    @Test
    void theEndInsideAMessage() throws Exception {
        call(PLAIN);
        peer.say(RawPeer.send(1, false, 0, HELLO));
        peer.close();
        assertFlushed(1);
    }
}
