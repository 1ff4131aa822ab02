package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ControlFileTest {
    private RingFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new RingFixture();
    }

    @AfterEach
    void close() throws IOException {
        fixture.close();
    }

    @Test
    void isOnlyForItsUser() throws IOException {
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(fixture.directory.file(ControlFile.NAME))))
                .isEqualTo("rw-------");
    }

    @Test
    void givesZeroedMemoryThatDoesNotOverlap() throws IOException {
        long first = fixture.control.allocate(100);
        long second = fixture.control.allocate(5000);
        assertThat(first % 64).isZero();
        assertThat(second).isGreaterThanOrEqualTo(first + 128);
        fixture.control.memory().set(ValueLayout.JAVA_LONG, first, 77);
        fixture.control.free(first, 100);
        long again = fixture.control.allocate(64);
        assertThat(again).isEqualTo(first);
        assertThat(fixture.control.memory().get(ValueLayout.JAVA_LONG, again)).isZero();
    }

    @Test
    void joinsNeighboursThatWereFreed() throws IOException {
        long first = fixture.control.allocate(64);
        long second = fixture.control.allocate(64);
        long third = fixture.control.allocate(64);
        fixture.control.free(first, 64);
        fixture.control.free(third, 64);
        fixture.control.free(second, 64);
        assertThat(fixture.control.allocate(192)).isEqualTo(first);
    }

    @Test
    void saysWhenItIsFull() {
        assertThatThrownBy(() -> fixture.control.allocate(2L << 30))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("control file is full");
    }

    @Test
    void changesAKeyWheneverItsEntryIsUsedAgain() throws IOException {
        KeyTable keys = new KeyTable(fixture.control);
        int[] last = new int[ControlLayout.KEY_COUNT];
        for (int i = 0; i < 100_000; i++) {
            int key = keys.allocate();
            assertThat(key).isNotEqualTo(last[key >>> 16]);
            last[key >>> 16] = key;
            keys.free(key);
        }
    }

    @Test
    void hasAKeyForEachEntryAndNoMore() throws IOException {
        KeyTable keys = new KeyTable(fixture.control);
        Set<Integer> indexes = new HashSet<>();
        int last = 0;
        for (int i = 0; i < ControlLayout.KEY_COUNT; i++) {
            last = keys.allocate();
            indexes.add(last >>> 16);
        }
        assertThat(indexes).hasSize(ControlLayout.KEY_COUNT);
        assertThatThrownBy(keys::allocate)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("keys of this context are in use");
        keys.free(last);
        assertThat(keys.allocate() >>> 16).isEqualTo(last >>> 16);
    }

    /// Who knows some keys cannot tell the next: neither is its index the one behind the last, nor are there few.
    @Test
    void keysAreFarFromEachOther() throws IOException {
        KeyTable keys = new KeyTable(fixture.control);
        Set<Integer> indexes = new HashSet<>();
        int neighbours = 0;
        int last = keys.allocate();
        for (int i = 0; i < 200; i++) {
            int key = keys.allocate();
            neighbours += (key >>> 16) - (last >>> 16) == 1 ? 1 : 0;
            indexes.add(key >>> 16);
            last = key;
        }
        assertThat(neighbours).isLessThan(50);
        assertThat(indexes).hasSize(200);
    }
}
