package io.rdmacomm.soft.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinkTermsTest {
    @ParameterizedTest
    @CsvSource({
        "no limit, 65535, 65535",
        "no limit, 1500, 1500",
        "no limit, -1, 128",
        "1440, 65535, 1434",
        "1440, 1000, 1000",
        "536, 0, 128"
    })
    void segmentsAreNoLongerThanEitherSideWants(String segment, int longestOfThePeer, int expected) {
        PeerHandshake peer = new PeerHandshake(
                MpaFrame.Kind.REPLY,
                PeerHandshake.Verdict.ACCEPTED,
                LinkTerms.FEATURES,
                longestOfThePeer,
                0,
                PeerHandshake.NO_HOST,
                QueuePairAddress.NONE,
                0,
                0,
                QueuePairAddress.NONE);
        int ownSegment = segment.equals("no limit") ? TcpSettings.NO_LIMIT : Integer.parseInt(segment);
        TcpSettings own = new TcpSettings(
                InetAddress.getLoopbackAddress(), TcpSettings.Checksum.BETWEEN_HOSTS, ownSegment, 30, false);
        assertThat(LinkTerms.segmentLimit(peer, own)).isEqualTo(expected);
    }
}
