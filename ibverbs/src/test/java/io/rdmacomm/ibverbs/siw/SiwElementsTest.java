package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SiwElementsTest {
    private final Arena arena = Arena.ofConfined();
    private final RequestChain requests = new Requests(arena)
            .add(SendOpcode.READ, 0, 0)
            .add(SendOpcode.SEND, 0, 0)
            .with(4096 - 8, 32)
            .add(SendOpcode.SEND, 0, 0)
            .with(4096, 32)
            .chain();
    private final SiwElements elements = new SiwElements(3);

    @AfterEach
    void free() {
        elements.close();
        arena.close();
    }

    private long list(int index) {
        return requests.segment().get(JAVA_LONG, requests.at(index) + SendRequestLayout.ELEMENTS);
    }

    private long listInChain(int index) {
        return requests.segment().address() + requests.elementsAt(index);
    }

    @Test
    void listsAreReplacedWhileTheyArePosted() {
        assertThat(elements.replace(requests, 0, 3)).isTrue();
        assertThat(requests.elementCount(0)).as("a READ has an element").isEqualTo(1);
        assertThat(requests.elementCount(1)).as("across a page").isEqualTo(2);
        assertThat(requests.elementCount(2)).isEqualTo(1);
        assertThat(list(1)).isNotEqualTo(listInChain(1));
        assertThat(list(2)).isEqualTo(listInChain(2));

        elements.restore(requests, 0, 3);
        assertThat(requests.elementCount(0)).isZero();
        assertThat(requests.elementCount(1)).isEqualTo(1);
        assertThat(requests.elementCount(2)).isEqualTo(1);
        for (int i = 0; i < 3; i++) {
            assertThat(list(i)).as("the list of request %d", i).isEqualTo(listInChain(i));
        }
    }

    @Test
    void otherListsAreLeftAlone() {
        assertThat(elements.replace(requests, 2, 1)).isFalse();
    }
}
