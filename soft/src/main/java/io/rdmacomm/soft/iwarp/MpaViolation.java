package io.rdmacomm.soft.iwarp;

/// A fault in the connection setup of a peer (RFC 5044 7.1, RFC 6581).
public enum MpaViolation {
    /// The first bytes are not those of MPA: the peer speaks another protocol.
    NOT_MPA("does not speak MPA"),
    /// A reply arrived in place of a request, or the reverse.
    OTHER_KIND("sent a reply for a request, or a request for a reply"),
    /// The revision is not 1 or 2.
    REVISION("speaks an MPA revision that is neither 1 nor 2"),
    /// The reply has a higher revision than the request.
    HIGHER_REVISION("answered with a higher MPA revision than it was asked for"),
    /// More private data than MPA allows.
    PRIVATE_DATA_TOO_LONG("announced more than 512 bytes of private data"),
    /// The enhanced block is announced, but there is no room for it.
    NO_ENHANCED_BLOCK("announced the 4 bytes of IRD and ORD and did not send them"),
    /// The peer wants markers.
    MARKERS("insists on MPA markers, which this side does not send"),
    /// The peer wants to send more READs than this side takes.
    TOO_MANY_READS("wants more READs at a time than this side can answer"),
    /// The peer agreed to a ready-to-receive frame of a kind that was not offered.
    NO_MATCHING_RTR("chose a ready-to-receive frame that was not offered");

    private final String text;

    MpaViolation(String text) {
        this.text = text;
    }

    /// The end of a sentence that begins with "the peer", for messages.
    @Override
    public String toString() {
        return text;
    }
}
