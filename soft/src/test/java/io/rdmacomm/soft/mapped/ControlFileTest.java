package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
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
        int[] all = new int[100];
        for (int i = 0; i < all.length; i++) {
            all[i] = keys.allocate();
        }
        for (int key : all) {
            keys.free(key);
        }
        int first = all[0];
        int again = keys.allocate();
        assertThat(again >>> 16).isEqualTo(first >>> 16);
        assertThat(again).isNotEqualTo(first);
    }
}
