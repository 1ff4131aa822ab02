package io.rdmacomm.soft.iwarp;

import org.jspecify.annotations.Nullable;

/// Turns request and reply into an agreement (RFC 5044 7.1.2, RFC 6581 5).
///
/// @param checksum whether this side wants checksums; they are used if one side does
/// @param inboundReads how many READs and atomics this side answers at a time
/// @param outboundReads how many it wants to have outstanding
public record MpaNegotiation(boolean checksum, int inboundReads, int outboundReads) {

    /// The initiator's request, in revision 2. It offers a ready-to-receive frame, so that the server's program may
    /// send first.
    public MpaFrame request(byte[] privateData) {
        EnhancedSetup setup = new EnhancedSetup(true, false, true, true, inboundReads, outboundReads);
        return MpaFrame.of(MpaFrame.Kind.REQUEST, setup, checksum, privateData);
    }

    /// The initiator's request to a peer of revision 1, which has neither IRD and ORD nor ready-to-receive.
    public MpaFrame plainRequest(byte[] privateData) {
        return MpaFrame.of(MpaFrame.Kind.REQUEST, null, checksum, privateData);
    }

    /// Checks that the responder can handle this request.
    ///
    /// @throws MpaException if not; the answer is a [#rejection]
    public static void check(MpaFrame request) throws MpaException {
        if (request.wantsMarkers()) {
            throw new MpaException(MpaViolation.MARKERS);
        }
    }

    /// The reply of the responder, in the revision of the request.
    public MpaFrame acceptance(MpaFrame request, byte[] privateData) {
        EnhancedSetup requested = request.enhanced();
        // The peer's request counts for both directions, so the reply states the result.
        boolean agreed = checksum || request.wantsChecksum();
        return MpaFrame.of(MpaFrame.Kind.REPLY, requested == null ? null : answer(requested), agreed, privateData);
    }

    private EnhancedSetup answer(EnhancedSetup requested) {
        ReadyToReceive rtr = choose(requested);
        return new EnhancedSetup(
                rtr != ReadyToReceive.NONE,
                false,
                rtr == ReadyToReceive.WRITE,
                rtr == ReadyToReceive.READ,
                inboundReads,
                Math.min(outboundReads, requested.inboundReads()));
    }

    /// Prefers the Write: it needs no answer.
    private static ReadyToReceive choose(EnhancedSetup offer) {
        if (!offer.peerToPeer()) {
            return ReadyToReceive.NONE;
        }
        if (offer.writeRtr()) {
            return ReadyToReceive.WRITE;
        }
        return offer.readRtr() ? ReadyToReceive.READ : ReadyToReceive.NONE;
    }

    /// The responder's rejecting reply.
    public static MpaFrame rejection(MpaFrame request, byte[] privateData) {
        EnhancedSetup requested = request.enhanced();
        EnhancedSetup echo = requested == null
                ? null
                : new EnhancedSetup(false, false, false, false, requested.outboundReads(), requested.inboundReads());
        return MpaFrame.rejection(echo, privateData);
    }

    /// The terms for the responder after its reply.
    public MpaTerms responderTerms(MpaFrame request, MpaFrame reply) {
        EnhancedSetup setup = reply.enhanced();
        return setup == null
                ? unnegotiated(reply.wantsChecksum())
                : new MpaTerms(reply.wantsChecksum(), inboundReads, setup.outboundReads(), choose(setup));
    }

    /// The terms for the initiator after a reply that accepts.
    ///
    /// @throws MpaException if the reply does not fit the request
    public MpaTerms initiatorTerms(MpaFrame request, MpaFrame reply) throws MpaException {
        if (reply.wantsMarkers()) {
            throw new MpaException(MpaViolation.MARKERS);
        }
        if (reply.revision() > request.revision()) {
            throw new MpaException(MpaViolation.HIGHER_REVISION);
        }
        boolean agreed = request.wantsChecksum() || reply.wantsChecksum();
        EnhancedSetup setup = reply.enhanced();
        if (setup == null) {
            return unnegotiated(agreed);
        }
        if (setup.outboundReads() != EnhancedSetup.NOT_NEGOTIATED && setup.outboundReads() > inboundReads) {
            throw new MpaException(MpaViolation.TOO_MANY_READS);
        }
        int outbound = Math.min(outboundReads, setup.inboundReads());
        return new MpaTerms(agreed, inboundReads, outbound, agreedFrame(request.enhanced(), setup));
    }

    private static ReadyToReceive agreedFrame(@Nullable EnhancedSetup offer, EnhancedSetup answer) throws MpaException {
        if (offer == null || !offer.peerToPeer() || !answer.peerToPeer()) {
            return ReadyToReceive.NONE;
        }
        if (offer.writeRtr() && answer.writeRtr()) {
            return ReadyToReceive.WRITE;
        }
        if (offer.readRtr() && answer.readRtr()) {
            return ReadyToReceive.READ;
        }
        throw new MpaException(MpaViolation.NO_MATCHING_RTR);
    }

    private MpaTerms unnegotiated(boolean agreedChecksum) {
        return new MpaTerms(agreedChecksum, inboundReads, outboundReads, ReadyToReceive.NONE);
    }
}
