package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.roce.wire.Syndrome;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Nothing is sent over RoCE, and the peer may be gone.
@Timeout(60)
class RoceSilenceTest extends RoceCase {
    private static final int SILENCE_MILLIS = 4_000;
    private static final int QUESTIONS = 3;

    RoceSilenceTest() {
        super(QueuePairType.RELIABLE_CONNECTED);
    }

    @Override
    String options() {
        return "&silence=" + SILENCE_MILLIS / 1000;
    }

    private void speak() throws IOException {
        receive(1);
        peer.send(packet(PacketOpcode.SEND_ONLY, 0), 8, 0);
        assertThat(awaitPacket().opcode).isEqualTo(PacketOpcode.ACKNOWLEDGE);
        assertThat(poll().workId(0)).isOne();
    }

    /// The number of a packet that was executed long ago: any responder acknowledges it again.
    private void awaitQuestion(int sent) throws IOException {
        Packet question = awaitPacket();
        assertThat(question.opcode).isEqualTo(PacketOpcode.WRITE_ONLY);
        assertThat(question.psn).isEqualTo(Psn.add(psn, sent - 1));
        assertThat(question.wantsAnswer).isTrue();
        assertThat(question.length).isZero();
        assertThat(question.key).isZero();
        assertThat(question.destination).isEqualTo(THEIR_NUMBER);
    }

    private void acknowledge(int number) throws IOException {
        Packet answer = packet(PacketOpcode.ACKNOWLEDGE, 0);
        answer.psn = Psn.add(psn, number);
        answer.wantsAnswer = false;
        answer.syndrome = Syndrome.DONE;
        peer.send(answer, 0, 0);
    }

    private void sendOne(int number) throws IOException {
        send(8);
        Packet sent = awaitPacket();
        assertThat(sent.opcode).isEqualTo(PacketOpcode.SEND_ONLY);
        assertThat(sent.psn).isEqualTo(Psn.add(psn, number));
        acknowledge(number);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void aPeerThatAnswersQuestionsStaysConnectedAndTheProgramSeesNothing() throws IOException {
        speak();
        long begin = System.nanoTime();
        do {
            awaitQuestion(0);
            acknowledge(-1);
        } while (System.nanoTime() - begin < SILENCE_MILLIS * 1_500_000L);
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertNothingCompletes();
        sendOne(0);
        awaitQuestion(1);
        sendOne(1);
        assertNothingCompletes();
    }

    @Test
    void aPeerThatAnswersNoQuestionIsGivenUp() throws IOException {
        speak();
        receive(2);
        long begin = System.nanoTime();
        for (int i = 0; i < QUESTIONS; i++) {
            awaitQuestion(0);
        }
        await("the queue pair fails", () -> pair.state() == QueuePairState.ERROR);
        assertThat(System.nanoTime() - begin).isGreaterThan(SILENCE_MILLIS * 500_000L);
        assertThat(poll().status(0)).isEqualTo(WorkStatus.FLUSHED);
    }

    /// It may be about to set its queue pair up.
    @Test
    void aPeerThatWasNeverHeardIsNotAsked() throws IOException {
        assertThat(peer.receive(SILENCE_MILLIS / 2)).isNull();
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }
}
