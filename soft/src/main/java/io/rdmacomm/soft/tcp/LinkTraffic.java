package io.rdmacomm.soft.tcp;

/// The traffic of links so far. Bytes are those of the TCP stream, frames and acknowledgements included.
///
/// @param bytesSent bytes that the socket has taken
/// @param bytesReceived bytes that the socket has given
/// @param framesSent frames that were made
/// @param framesReceived frames that have arrived whole
public record LinkTraffic(long bytesSent, long bytesReceived, long framesSent, long framesReceived) {
    static final LinkTraffic NONE = new LinkTraffic(0, 0, 0, 0);

    LinkTraffic plus(LinkTraffic other) {
        return new LinkTraffic(
                bytesSent + other.bytesSent,
                bytesReceived + other.bytesReceived,
                framesSent + other.framesSent,
                framesReceived + other.framesReceived);
    }
}
