package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PeerKeyTest {
    private static final int DOMAIN = 3;
    private static final int RIGHTS = 6;
    private static final long FILE = 12;

    private RingFixture fixture;
    private KeyTable table;
    private PeerKey peerKey;
    private int key;

    @BeforeEach
    void open() throws IOException {
        fixture = new RingFixture();
        table = new KeyTable(fixture.control);
        peerKey = new PeerKey(fixture.control.memory());
        key = table.allocate();
    }

    @AfterEach
    void close() throws IOException {
        fixture.close();
    }

    private void grant(int kind, long address, long file, int queuePair) {
        table.grant(key, kind, new KeyTable.Grant(address, 100, RIGHTS, DOMAIN, file, key, 0, queuePair, key));
    }

    @Test
    void isValidFromItsGrantToItsEnd() {
        assertThat(peerKey.load(key)).isFalse();
        grant(KeyTable.REGION, 4096, FILE, 0);
        for (int turn = 0; turn < 2; turn++) {
            assertThat(peerKey.load(key)).isTrue();
            assertThat(peerKey.load(key + 1)).as("another tag").isFalse();
            assertThat(peerKey.load(key ^ 0x8000_0000))
                    .as("an entry that is not there")
                    .isFalse();
            assertThat(peerKey.load(0)).as("no key").isFalse();
        }
        assertThat(peerKey.load(key)).isTrue();
        table.revoke(key);
        assertThat(peerKey.load(key)).as("revoked").isFalse();
    }

    @Test
    void saysWhatIsAllowed() {
        grant(KeyTable.REGION, 4096, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.isOfRegion()).isTrue();
        assertThat(peerKey.allows(1, DOMAIN, 2)).isTrue();
        assertThat(peerKey.allows(1, DOMAIN, 1))
                .as("a right that was not given")
                .isFalse();
        assertThat(peerKey.allows(1, DOMAIN + 1, 2)).as("another domain").isFalse();
        assertThat(peerKey.contains(4096, 100)).isTrue();
        assertThat(peerKey.contains(4195, 2)).isFalse();
        assertThat(peerKey.contains(4095, 1)).isFalse();
        assertThat(peerKey.offsetOf(4106)).isEqualTo(10);
        assertThat(peerKey.file()).isEqualTo(FILE);
        assertThat(peerKey.region()).isEqualTo(key);
    }

    /// After 65,536 uses of an entry, an old key is that of another region.
    @Test
    void theSameKeyOfAnotherRegionIsReadAgain() {
        grant(KeyTable.REGION, 4096, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        table.revoke(key);
        grant(KeyTable.REGION, 8192, FILE + 1, 0);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.contains(4096, 1)).isFalse();
        assertThat(peerKey.contains(8192, 1)).isTrue();
        assertThat(peerKey.file()).isEqualTo(FILE + 1);
    }

    @Test
    void theSameKeyOfAnotherPartOfTheFileIsReadAgain() {
        grant(KeyTable.REGION, 4096, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        table.revoke(key);
        grant(KeyTable.REGION, 8192, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.contains(4096, 1)).isFalse();
        assertThat(peerKey.contains(8192, 1)).isTrue();
    }

    @Test
    void memoryWithoutAFileIsReadAgain() {
        grant(KeyTable.REGION, 4096, 0, 0);
        assertThat(peerKey.load(key)).isTrue();
        table.revoke(key);
        grant(KeyTable.REGION, 8192, 0, 0);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.contains(8192, 1)).isTrue();
    }

    /// A window can be bound to another part of its region, with a key that was used before.
    @Test
    void theKeyOfAWindowIsReadEachTime() {
        grant(KeyTable.WINDOW, 4096, FILE, 5);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.isOfRegion()).isFalse();
        assertThat(peerKey.allows(5, DOMAIN, 2)).isTrue();
        assertThat(peerKey.allows(6, DOMAIN, 2)).as("another queue pair").isFalse();
        table.revoke(key);
        grant(KeyTable.WINDOW, 4200, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.contains(4096, 1)).isFalse();
        assertThat(peerKey.allows(6, DOMAIN, 2)).isTrue();
    }

    /// Otherwise the copy would save nothing: only the word and the serial number are read again.
    @Test
    void theEntryOfTheSameRegionIsNotReadAgain() {
        grant(KeyTable.REGION, 4096, FILE, 0);
        assertThat(peerKey.load(key)).isTrue();
        MemorySegment memory = fixture.control.memory();
        memory.set(ValueLayout.JAVA_LONG, ControlLayout.key(key) + ControlLayout.KEY_LENGTH, 1L << 40);
        assertThat(peerKey.load(key)).isTrue();
        assertThat(peerKey.contains(4096, 101))
                .as("a length that no correct peer changes")
                .isFalse();
    }
}
