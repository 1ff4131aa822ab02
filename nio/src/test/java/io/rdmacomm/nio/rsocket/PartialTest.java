package io.rdmacomm.nio.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The parts of an object under construction.
class PartialTest {
    private final List<String> closed = new ArrayList<>();

    private AutoCloseable part(String name) {
        return () -> closed.add(name);
    }

    @Test
    void afterAFailureThePartsAreClosedNewestFirstAndEachOfThem() {
        try (Partial parts = new Partial()) {
            parts.add(part("first"));
            parts.add(() -> {
                closed.add("second");
                throw new IllegalStateException("a test");
            });
            parts.add(part("third"));
        }

        assertThat(closed).containsExactly("third", "second", "first");
    }

    @Test
    void afterSuccessThePartsAreKept() {
        try (Partial parts = new Partial()) {
            parts.add(part("first"));
            parts.keep();
        }

        assertThat(closed).isEmpty();
    }
}
