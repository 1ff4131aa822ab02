package io.rdmacomm.soft.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class FairQueueTest {
    private final FairQueue<String, String> queue = new FairQueue<>(4);

    private String add(String member) {
        return queue.add(member, member.substring(0, 1));
    }

    @Test
    void thereIsRoomUpToTheLimit() {
        for (String member : new String[] {"a1", "a2", "a3", "a4"}) {
            assertThat(add(member)).isNull();
        }
        assertThat(add("a5")).isEqualTo("a1");
        assertThat(add("a6")).isEqualTo("a2");
    }

    @Test
    void whoHasMostMakesRoom() {
        add("b1");
        for (int i = 1; i <= 3; i++) {
            add("a" + i);
        }
        for (int i = 4; i <= 100; i++) {
            assertThat(add("a" + i)).isEqualTo("a" + (i - 3));
        }
        assertThat(add("c1")).isEqualTo("a98");
        assertThat(add("b2"))
                .as("a and b had two each, and b is about to have more")
                .isEqualTo("b1");
    }

    @Test
    void theOldestLeavesIfAllHaveTheSame() {
        for (String member : new String[] {"a1", "b1", "c1", "d1"}) {
            add(member);
        }
        assertThat(add("e1")).isEqualTo("a1");
        assertThat(add("f1")).isEqualTo("b1");
    }

    @Test
    void whoHasLeftTakesNoRoom() {
        for (int i = 0; i < 100; i++) {
            assertThat(add("a" + i)).isNull();
            queue.remove("a" + i);
            queue.remove("a" + i);
        }
    }

    @Test
    void anIpv6NetworkIsOneOrigin() {
        assertThat(origin("2001:db8::1")).isEqualTo(origin("2001:db8::ffff:1")).isNotEqualTo(origin("2001:db8:0:1::1"));
        assertThat(origin("10.0.0.1")).isEqualTo(origin("10.0.0.1")).isNotEqualTo(origin("10.0.0.2"));
        assertThat(origin("0.0.0.0")).isNotEqualTo(origin("::"));
    }

    private static CallerOrigin origin(String address) {
        return CallerOrigin.of(InetAddress.ofLiteral(address));
    }
}
