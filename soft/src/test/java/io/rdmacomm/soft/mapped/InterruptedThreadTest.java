package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// An interrupt is the user's business: it neither fails what the device does nor gets lost.
class InterruptedThreadTest {
    private RingFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new RingFixture();
    }

    @AfterEach
    void close() throws IOException {
        Thread.interrupted();
        fixture.close();
    }

    @Test
    void allocatesInTheControlFile() throws IOException {
        Thread.currentThread().interrupt();
        long offset = fixture.control.allocate(100_000);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(fixture.control.allocate(100_000)).isGreaterThan(offset);
    }

    @Test
    void createsAndMapsRegions() throws IOException {
        Thread.currentThread().interrupt();
        try (MappedFile region = MappedFile.create(fixture.directory, "region-1", 8192);
                MappedFile again = MappedFile.open(fixture.directory.file("region-1"))) {
            assertThat(region.segment().byteSize()).isEqualTo(again.segment().byteSize());
        }
        assertThat(Thread.interrupted()).isTrue();
    }
}
