package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        assertThat(settings.checksumBetween(InetAddress.ofLiteral(local), InetAddress.ofLiteral(remote)))
                .isEqualTo(on);
    }

    @Test
    void anUnknownOptionIsNamed() {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=127.0.0.1?checksums=true"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'checksums=true' is not an option");
    }

    @Test
    void anAddressIsNoHostName() {
        assertThatThrownBy(() -> DeviceSettings.parse("soft0=localhost"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'localhost' is not an IP address");
    }
}
