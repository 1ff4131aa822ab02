package io.rdmacomm.soft.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MpaNegotiationTest {
    private static final byte[] NOTHING = {};
    private static final MpaNegotiation PLAIN = new MpaNegotiation(false, 16, 8);
    private static final MpaNegotiation CHECKSUMS = new MpaNegotiation(true, 16, 8);

    private static MpaFrame request(boolean checksum, EnhancedSetup setup) {
        return MpaFrame.of(MpaFrame.Kind.REQUEST, setup, checksum, NOTHING);
    }

    private static MpaFrame reply(boolean checksum, EnhancedSetup setup) {
        return MpaFrame.of(MpaFrame.Kind.REPLY, setup, checksum, NOTHING);
    }

    private static EnhancedSetup reads(int inbound, int outbound) {
        return new EnhancedSetup(false, false, false, false, inbound, outbound);
    }

    @Test
    void checksumsAreUsedIfOneSideWantsThem() throws MpaException {
        for (MpaNegotiation initiator : new MpaNegotiation[] {PLAIN, CHECKSUMS}) {
            for (MpaNegotiation responder : new MpaNegotiation[] {PLAIN, CHECKSUMS}) {
                MpaFrame request = initiator.request(NOTHING);
                MpaFrame reply = responder.acceptance(request, NOTHING);
                boolean expected = initiator.checksum() || responder.checksum();
                assertThat(initiator.initiatorTerms(request, reply).checksum()).isEqualTo(expected);
                assertThat(responder.responderTerms(request, reply).checksum()).isEqualTo(expected);
            }
        }
    }

    @Test
    void bothSidesAgree() throws MpaException {
        MpaNegotiation small = new MpaNegotiation(false, 4, 32);
        MpaFrame request = PLAIN.request(NOTHING);
        MpaFrame reply = small.acceptance(request, NOTHING);
        MpaTerms initiator = PLAIN.initiatorTerms(request, reply);
        MpaTerms responder = small.responderTerms(request, reply);
        assertThat(initiator).isEqualTo(new MpaTerms(false, 16, 4, ReadyToReceive.WRITE));
        assertThat(responder).isEqualTo(new MpaTerms(false, 4, 16, ReadyToReceive.WRITE));
    }

    /// siw as initiator: never peer to peer; its reads count.
    @Test
    void initiatorWithoutReadyToReceive() {
        MpaFrame request = request(false, reads(1, 1));
        MpaFrame reply = PLAIN.acceptance(request, NOTHING);
        assertThat(reply.enhanced()).isEqualTo(reads(16, 1));
        assertThat(PLAIN.responderTerms(request, reply)).isEqualTo(new MpaTerms(false, 16, 1, ReadyToReceive.NONE));
    }

    /// siw as responder answers with its own values and never peer to peer.
    @Test
    void responderWithoutReadyToReceive() throws MpaException {
        MpaFrame request = PLAIN.request(NOTHING);
        assertThat(request.enhanced()).isEqualTo(new EnhancedSetup(true, false, true, true, 16, 8));
        assertThat(PLAIN.initiatorTerms(request, reply(true, reads(1, 1))))
                .isEqualTo(new MpaTerms(true, 16, 1, ReadyToReceive.NONE));
    }

    @Test
    void readyToReceiveByReadIfThatIsAllTheInitiatorCanDo() throws MpaException {
        MpaFrame request = request(false, new EnhancedSetup(true, true, false, true, 8, 8));
        MpaFrame reply = PLAIN.acceptance(request, NOTHING);
        assertThat(PLAIN.responderTerms(request, reply).readyToReceive()).isEqualTo(ReadyToReceive.READ);
        assertThat(PLAIN.initiatorTerms(request, reply).readyToReceive()).isEqualTo(ReadyToReceive.READ);

        // Only an empty Send is offered: not agreed on.
        request = request(false, new EnhancedSetup(true, true, false, false, 8, 8));
        assertThat(PLAIN.acceptance(request, NOTHING).enhanced()).isEqualTo(reads(16, 8));
    }

    @Test
    void revisionOne() throws MpaException {
        MpaFrame request = CHECKSUMS.plainRequest(new byte[] {1});
        assertThat(request.revision()).isEqualTo(1);
        MpaFrame reply = PLAIN.acceptance(request, new byte[] {2});
        assertThat(reply.revision()).isEqualTo(1);
        assertThat(reply.enhanced()).isNull();
        assertThat(PLAIN.responderTerms(request, reply)).isEqualTo(new MpaTerms(true, 16, 8, ReadyToReceive.NONE));
        assertThat(CHECKSUMS.initiatorTerms(request, reply)).isEqualTo(new MpaTerms(true, 16, 8, ReadyToReceive.NONE));
        assertThat(MpaNegotiation.rejection(request, NOTHING).revision()).isEqualTo(1);
    }

    @Test
    void rejectionKeepsTheBlockOfTheRequest() {
        MpaFrame rejection = MpaNegotiation.rejection(request(false, reads(3, 5)), new byte[] {7});
        assertThat(rejection.isRejected()).isTrue();
        assertThat(rejection.enhanced()).isEqualTo(reads(5, 3));
        assertThat(rejection.privateData()).containsExactly(7);
    }

    @Test
    void rejectsUnsupportedRequests() throws MpaException {
        MpaFrame request = PLAIN.request(NOTHING);
        assertViolation(MpaViolation.TOO_MANY_READS, request, reply(false, reads(1, 17)));
        assertThat(PLAIN.initiatorTerms(request, reply(false, reads(1, EnhancedSetup.NOT_NEGOTIATED))))
                .isNotNull();
        assertViolation(
                MpaViolation.NO_MATCHING_RTR, request, reply(false, new EnhancedSetup(true, true, false, false, 1, 1)));
        assertViolation(MpaViolation.HIGHER_REVISION, PLAIN.plainRequest(NOTHING), reply(false, reads(1, 1)));
    }

    @Test
    void markersAreRejectedOnBothSides() throws MpaException {
        MpaFrame request = read(MpaFrame.Kind.REQUEST, "8001 0000");
        assertThatThrownBy(() -> MpaNegotiation.check(request))
                .isInstanceOfSatisfying(
                        MpaException.class, e -> assertThat(e.violation()).isEqualTo(MpaViolation.MARKERS));
        MpaNegotiation.check(PLAIN.request(NOTHING));
        assertViolation(MpaViolation.MARKERS, PLAIN.request(NOTHING), read(MpaFrame.Kind.REPLY, "9002 0004 00010001"));
    }

    private static MpaFrame read(MpaFrame.Kind kind, String hexBehindKey) throws MpaException {
        MpaFrameReader reader = new MpaFrameReader(kind);
        String key = kind == MpaFrame.Kind.REQUEST ? "526571" : "526570";
        byte[] bytes = Frames.bytes("4d504120494420" + key + "204672616d65" + hexBehindKey);
        int at = 0;
        while (!reader.advance()) {
            reader.buffer().put(bytes[at++]);
        }
        return reader.frame();
    }

    private static void assertViolation(MpaViolation expected, MpaFrame request, MpaFrame reply) {
        assertThatThrownBy(() -> PLAIN.initiatorTerms(request, reply))
                .isInstanceOfSatisfying(
                        MpaException.class, e -> assertThat(e.violation()).isEqualTo(expected));
    }
}
