package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LinkTermsTest {
    @ParameterizedTest
    @CsvSource({
        "soft0, 65535, 65535",
        "soft0, 1500, 1500",
        "soft0, -1, 128",
        "soft0=127.0.0.1?segment=1440, 65535, 1434",
        "soft0=127.0.0.1?segment=1440, 1000, 1000",
        "soft0=127.0.0.1?segment=536, 0, 128"
    })
    void segmentsAreNoLongerThanEitherSideWants(String own, int longestOfThePeer, int expected) {
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
        assertThat(LinkTerms.segmentLimit(peer, DeviceSettings.parse(own))).isEqualTo(expected);
    }
}
