package io.rdmacomm.ibverbs.siw;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkRequestException;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SiwRejectionsTest {
    private final Arena arena = Arena.ofConfined();
    private final SendBatch batch = SendBatch.create(arena, 4, 2);

    @AfterEach
    void free() {
        arena.close();
    }

    private void rejects(int index, String words) {
        assertThat(SiwRejections.acceptable(batch, 0, batch.size())).isEqualTo(index);
        WorkRequestException rejection = SiwRejections.rejection("post send", batch, index, "siw0");
        assertThat(rejection.index()).isEqualTo(index);
        assertThat(rejection).hasMessageContaining(words);
    }

    @Test
    void rejectsAFencedRead() {
        batch.read(1, 0, 0).with(0, 8, 0);
        batch.write(2, 0, 0).with(0, 8, 0).fenced();
        batch.read(3, 0, 0).with(0, 8, 0).fenced();
        rejects(2, "a READ cannot be fenced on siw");
    }

    @Test
    void rejectsAnEmptyElementInFrontOfAnother() {
        batch.send(1).with(0, 8, 0).with(0, 0, 0);
        batch.write(2, 0, 0).with(0, 0, 0).with(0, 0, 0);
        batch.send(3).with(0, 0, 0).with(0, 8, 0).inline();
        batch.write(4, 0, 0).with(0, 0, 0).with(0, 8, 0);
        rejects(3, "an element of length 0 in front of another");
        batch.element(3, 0, 0, 8, 0);
        assertThat(SiwRejections.acceptable(batch, 3, 1)).isEqualTo(1);
        batch.element(3, 0, 0, 0, 0);
        assertThat(SiwRejections.acceptable(batch, 3, 1)).isZero();
    }

    @Test
    void rejectsAShortReadAcrossPages() {
        batch.read(1, 4096 - 32, 0).with(0, 32, 0);
        batch.read(2, 4096 - 1, 0).with(0, 33, 0);
        batch.write(3, 4096 - 1, 0).with(0, 2, 0);
        batch.read(4, 4096 - 31, 0).with(0, 16, 0).with(0, 16, 0);
        rejects(3, "a READ of 32 bytes from 0xfe1 on crosses a page of the peer");
    }
}
