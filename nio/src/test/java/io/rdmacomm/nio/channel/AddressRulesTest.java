package io.rdmacomm.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdmacomm.nio.channel.AddressRules.Choice;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRulesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                            | 10.1.2.3  | 80   | TCP
            *                             | 10.1.2.3  | 80   | RDMA
            *                             | fe80::1   | 80   | RDMA
            10.1.0.0/16                   | 10.1.2.3  | 80   | RDMA
            10.1.0.0/16                   | 10.2.2.3  | 80   | TCP
            10.1.0.0/15                   | 10.0.2.3  | 80   | RDMA
            0.0.0.0/0                     | 10.0.2.3  | 80   | RDMA
            10.1.2.3                      | 10.1.2.3  | 80   | RDMA
            10.1.2.3                      | 10.1.2.4  | 80   | TCP
            10.1.2.3:9092                 | 10.1.2.3  | 9092 | RDMA
            10.1.2.3:9092                 | 10.1.2.3  | 9093 | TCP
            :9092                         | 10.1.2.3  | 9092 | RDMA
            *:9092                        | fe80::1   | 9092 | RDMA
            fe80::/10                     | fe80::1   | 80   | RDMA
            fe80::1                       | fe80::1   | 80   | RDMA
            [fe80::1]:80                  | fe80::1   | 80   | RDMA
            [fe80::1]:80                  | fe80::1   | 81   | TCP
            fe80::/10                     | 10.1.2.3  | 80   | TCP
            !10.1.2.3, 10.1.0.0/16        | 10.1.2.3  | 80   | TCP
            !10.1.2.3, 10.1.0.0/16        | 10.1.2.4  | 80   | RDMA
            10.1.0.0/16, !10.1.2.3        | 10.1.2.3  | 80   | RDMA
            0.0.0.0                       | ::        | 80   | RDMA
            0.0.0.0                       | 0.0.0.0   | 80   | RDMA
            0.0.0.0                       | 10.1.2.3  | 80   | TCP
            [::]:80                       | 0.0.0.0   | 80   | RDMA
            !::, *                        | 0.0.0.0   | 80   | TCP
            0.0.0.0/0                     | ::        | 80   | TCP
            device                        | 10.8.0.1  | 80   | RDMA
            device                        | 10.1.2.3  | 80   | TCP
            device:9092                   | 10.8.0.1  | 80   | TCP
            device:9092                   | 10.8.0.1  | 9092 | RDMA
            !device, *                    | 10.8.0.1  | 80   | TCP
            !device, *                    | 10.1.2.3  | 80   | RDMA
            ?device                       | 10.8.0.1  | 80   | EITHER
            ?device                       | 10.1.2.3  | 80   | TCP
            10.1.2.3, ?*:9092             | 10.1.2.3  | 9092 | RDMA
            10.1.2.3, ?*:9092             | 10.1.2.4  | 9092 | EITHER
            """)
    void theFirstRuleThatMatchesDecides(String rules, String address, int port, Choice choice) {
        InetSocketAddress asked = new InetSocketAddress(InetAddress.ofLiteral(address), port);
        assertThat(AddressRules.parse(rules).choice(asked, AddressRulesTest::isOnDevice))
                .isEqualTo(choice);
    }

    @ParameterizedTest
    @CsvSource({
        "'10.0.0.0/8', 0.0.0.0, true",
        "'device', ::, true",
        "':80', 0.0.0.0, false",
        "':81', 0.0.0.0, false",
        "'::, 10.0.0.0/8', 0.0.0.0, false",
        "'!0.0.0.0, 10.0.0.0/8', ::, false",
        "'!*', 0.0.0.0, false",
        "'', 0.0.0.0, false",
        "'10.0.0.0/8', 11.0.0.1, false",
    })
    void aForgottenWildcardAddressIsNoticed(String rules, String address, boolean forgotten) {
        InetSocketAddress asked = new InetSocketAddress(InetAddress.ofLiteral(address), 80);
        assertThat(AddressRules.parse(rules).forgetsWildcard(asked, AddressRulesTest::isOnDevice))
                .isEqualTo(forgotten);
    }

    private static boolean isOnDevice(InetAddress address) {
        return address.equals(InetAddress.ofLiteral("10.8.0.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"example.com", "10.1.2.3/33", "10.1.2.3:0", "10.1.2.3:65536", "10.1.2.3:x", "1.2.3.4/-1"})
    void wrongRulesAreNamed(String rule) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AddressRules.parse("*:1," + rule))
                .withMessageContaining("'" + rule + "'")
                .withMessageContaining("for example");
    }
}
