package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.iwarp.Fpdu;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DeviceSettingsTest {
    @ParameterizedTest
    @CsvSource({
        "soft0, 127.0.0.1, 127.0.0.1, false",
        "soft0, 10.0.0.1, 10.0.0.2, true",
        "soft0, 10.0.0.1, 10.0.0.1, false",
        "soft0=10.0.0.1, 10.0.0.1, 10.0.0.2, true",
        "soft0=127.0.0.1?checksum=true, 127.0.0.1, 127.0.0.1, true",
        "soft0=10.0.0.1?sharedMemory=false&checksum=false, 10.0.0.1, 10.0.0.2, false"
    })
    void checksumsAreForLinksBetweenHostsUnlessSaidOtherwise(String entry, String local, String remote, boolean on) {
        DeviceSettings settings = DeviceSettings.parse(entry);
        assertThat(settings.tcp().checksumBetween(InetAddress.ofLiteral(local), InetAddress.ofLiteral(remote)))
                .isEqualTo(on);
    }

    @Test
    void anUnknownOptionIsNamed() {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=127.0.0.1?checksums=true"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'checksums=true' is not an option");
    }

    /// One byte of the frame is left of 1441: its length is a multiple of 4 (RFC 5044 4.5).
    @ParameterizedTest
    @CsvSource({
        "soft0, 65535",
        "soft0=127.0.0.1?segment=1440, 1434",
        "soft0=127.0.0.1?checksum=true&segment=1441, 1434",
        "soft0=127.0.0.1?segment=536, 530",
        "soft0=127.0.0.1?segment=65535, 65526"
    })
    void aFrameFitsTheTcpSegmentsThatAreAskedFor(String entry, int segment) {
        DeviceSettings settings = DeviceSettings.parse(entry);
        assertThat(settings.tcp().segmentLimit()).isEqualTo(segment);
        assertThat(Fpdu.bytes(segment) <= settings.tcp().segment()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"535", "0", "-1", "65536", "99999999999", "", "1k", "+1440"})
    void aSegmentSizeThatTcpCannotHaveIsRejected(String size) {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=127.0.0.1?segment=" + size))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rdmacomm.soft.devices: 'segment=" + size + "'")
                .hasMessageContaining("536 to 65535");
    }

    @ParameterizedTest
    @CsvSource({"soft0, 30", "soft0=10.0.0.1?silence=4, 4", "soft0=10.0.0.1?checksum=true&silence=32400, 32400"})
    void aHostMayBeSilentForAsLongAsIsAskedFor(String entry, int seconds) {
        assertThat(DeviceSettings.parse(entry).tcp().silenceSeconds()).isEqualTo(seconds);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3", "0", "-1", "32401", "99999999999", "", "1s"})
    void aSilenceThatTcpCannotNoticeIsRejected(String seconds) {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=127.0.0.1?silence=" + seconds))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rdmacomm.soft.devices: 'silence=" + seconds + "'")
                .hasMessageContaining("4 to 32400 seconds");
    }

    @Test
    void anAddressIsNoHostName() {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=localhost"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'localhost' is not an IP address");
    }
}
