package io.rdmacomm.ibverbs.siw;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SiwRejectionsTest {
    private final Arena arena = Arena.ofConfined();
    private final Requests requests = new Requests(arena);

    @AfterEach
    void free() {
        arena.close();
    }

    private int acceptable(int first, int count) {
        return SiwRejections.acceptable(requests.chain(), first, count);
    }

    private void rejects(int index, String words) {
        assertThat(acceptable(0, requests.size())).isEqualTo(index);
        WorkRequestException rejection = SiwRejections.rejection("post send", requests.chain(), index, "siw0");
        assertThat(rejection.index()).isEqualTo(index);
        assertThat(rejection).hasMessageContaining(words);
    }

    @Test
    void rejectsAFencedRead() {
        requests.add(SendOpcode.READ, 0, 0).with(0, 8);
        requests.add(SendOpcode.WRITE, SendRequestLayout.FLAG_FENCE, 0).with(0, 8);
        requests.add(SendOpcode.READ, SendRequestLayout.FLAG_FENCE, 0).with(0, 8);
        rejects(2, "a READ cannot be fenced on siw");
    }

    @Test
    void rejectsAnEmptyElementInFrontOfAnother() {
        requests.add(SendOpcode.SEND, 0, 0).with(0, 8).with(0, 0);
        requests.add(SendOpcode.WRITE, 0, 0).with(0, 0).with(0, 0);
        requests.add(SendOpcode.SEND, SendRequestLayout.FLAG_INLINE, 0)
                .with(0, 0)
                .with(0, 8);
        requests.add(SendOpcode.WRITE, 0, 0).with(0, 0).with(0, 8);
        rejects(3, "an element of length 0 in front of another");
        requests.chain().put(3, 0, 0, 8, 0);
        assertThat(acceptable(3, 1)).isEqualTo(1);
        requests.chain().put(3, 0, 0, 0, 0);
        assertThat(acceptable(3, 1)).isZero();
    }

    @Test
    void rejectsAShortReadAcrossPages() {
        requests.add(SendOpcode.READ, 0, 4096 - 32).with(0, 32);
        requests.add(SendOpcode.READ, 0, 4096 - 1).with(0, 33);
        requests.add(SendOpcode.WRITE, 0, 4096 - 1).with(0, 2);
        requests.add(SendOpcode.READ, 0, 4096 - 31).with(0, 16).with(0, 16);
        rejects(3, "a READ of 32 bytes from 0xfe1 on crosses a page of the peer");
    }
}
