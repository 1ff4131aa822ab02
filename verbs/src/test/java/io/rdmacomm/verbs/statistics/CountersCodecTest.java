package io.rdmacomm.verbs.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.counters.Records;
import io.rdmacomm.verbs.counters.file.CountersLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/// The layout of the counters file, there and back, and files that somebody has made up.
final class CountersCodecTest {
    private static final ProcessIdentity PROCESS = new ProcessIdentity(4711, 12345, 4026531836L);

    private static byte[] encoded(PublishedProcess process) {
        return Records.encode(process);
    }

    private static byte[] encoded() {
        return encoded(Records.process(PROCESS, Records.records(3)));
    }

    /// A file with other bytes at one place, and with a checksum that fits.
    private static byte[] changed(int at, byte... bytes) {
        byte[] file = encoded();
        System.arraycopy(bytes, 0, file, at, bytes.length);
        return sealed(file);
    }

    private static byte[] sealed(byte[] file) {
        ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(CountersLayout.CHECKSUM_AT, 0);
        CRC32C checksum = new CRC32C();
        checksum.update(file);
        buffer.putInt(CountersLayout.CHECKSUM_AT, (int) checksum.getValue());
        return file;
    }

    private static void rejects(byte[] file, String why) {
        assertThatThrownBy(() -> CountersDecoder.decode(file))
                .isInstanceOf(MalformedCountersException.class)
                .hasMessageContaining(why);
    }

    @Test
    void aFileIsDecodedAsItWasEncoded() throws IOException {
        for (int count : new int[] {0, 1, 3, CountersLayout.MOST_RECORDS}) {
            PublishedProcess process = Records.process(PROCESS, Records.records(count));
            assertThat(CountersDecoder.decode(encoded(process))).isEqualTo(process);
        }
    }

    @Test
    void theLayoutIsThatOfVersion1() {
        ByteBuffer file = ByteBuffer.wrap(encoded()).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(file.capacity()).isEqualTo(512 + 3 * 512);
        assertThat(new String(file.array(), 0, 7, java.nio.charset.StandardCharsets.US_ASCII))
                .isEqualTo("rdmacnt");
        assertThat(file.getInt(8)).isEqualTo(1);
        assertThat(file.getInt(12)).isEqualTo(3);
        assertThat(file.getLong(16)).isEqualTo(4711);
        assertThat(file.getLong(24)).isEqualTo(12345);
        assertThat(file.getLong(32)).isEqualTo(4026531836L);
        assertThat(file.getLong(40)).isEqualTo(12);
        assertThat(file.getLong(48)).isEqualTo(34);
        assertThat(file.getShort(64)).isEqualTo((short) "program argument".length());
        int third = 512 + 2 * 512;
        assertThat(file.getLong(third)).isEqualTo(3);
        for (int counter = 0; counter < 13; counter++) {
            assertThat(file.getLong(third + 8 + 8 * counter)).isEqualTo(2L * (counter + 1));
        }
        assertThat(file.getShort(third + 136)).isEqualTo((short) "session 2".length());
        assertThat(file.get(third + 138)).isEqualTo((byte) 's');
        assertThat(file.getShort(third + 264)).isEqualTo((short) "peer 127.0.0.1:2020".length());
        assertThat(file.getShort(third + 392)).isEqualTo((short) "data-0".length());
        assertThat(file.getLong(third + 456)).isEqualTo(200);
        assertThat(file.getLong(third + 464)).isEqualTo(2000);
    }

    @Test
    void channelsWithoutRoomAreCounted() throws IOException {
        PublishedProcess decoded = CountersDecoder.decode(
                encoded(Records.process(PROCESS, Records.records(CountersLayout.MOST_RECORDS + 5))));
        assertThat(decoded.channels()).hasSize(CountersLayout.MOST_RECORDS);
        assertThat(decoded.leftOut()).isEqualTo(5);
    }

    @Test
    void aLongTextIsCutBetweenCharacters() throws IOException {
        for (int shift = 0; shift < 4; shift++) {
            String name = "x".repeat(shift) + "\u20ac\ud83d\ude00".repeat(50);
            PublishedChannel record = Records.record(1, name, 1);
            String decoded = CountersDecoder.decode(encoded(Records.process(PROCESS, List.of(record))))
                    .channels()
                    .getFirst()
                    .session();
            assertThat(name).startsWith(decoded);
            assertThat(decoded).hasSizeGreaterThan(50);
        }
    }

    @Test
    void whatWouldDisturbATerminalIsReplaced() throws IOException {
        PublishedChannel record = Records.record(1, "a\u001b[2Jb\nc\u202ed\u009be", 1);
        assertThat(CountersDecoder.decode(encoded(Records.process(PROCESS, List.of(record))))
                        .channels()
                        .getFirst()
                        .session())
                .isEqualTo("a?[2Jb?c?d?e");
    }

    @Test
    void strangeFilesAreRejected() {
        rejects(new byte[0], "not a counters file");
        rejects(new byte[511], "not a counters file");
        rejects(new byte[512], "not a counters file");
        rejects(changed(0, (byte) 1), "not a counters file");
        rejects(changed(8, (byte) 2), "version 2");
        rejects(changed(12, (byte) 4), "4 records");
        rejects(changed(12, (byte) 2), "2 records");
        rejects(changed(12, (byte) 0, (byte) 0, (byte) 0, (byte) 0x80), "records");
        rejects(changed(12, (byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0x7f), "records");
        rejects(changed(16, new byte[8]), "process 0");
        rejects(changed(19, new byte[] {0, 0, 0, 0, (byte) 0x80}), "process -");
        rejects(changed(56, (byte) 0, (byte) 0, (byte) 0, (byte) 0x80), "left out");
        rejects(changed(64, (byte) 0xbf, (byte) 0x01), "a text of 447 bytes");
        rejects(changed(64, (byte) 0xff, (byte) 0xff), "a text of -1 bytes");
        rejects(changed(512 + 136, (byte) 127), "a text of 127 bytes");
        rejects(changed(512 + 392, (byte) 0xff, (byte) 0x7f), "a text of 32767 bytes");
        rejects(Arrays.copyOf(encoded(), 512 + 3 * 512 - 1), "3 records");
    }

    @Test
    void aFileThatWasChangedWhileItWasReadIsRejected() {
        byte[] file = encoded();
        for (int at = 13; at < file.length; at += 7) {
            byte[] torn = file.clone();
            torn[at] ^= 0x10;
            assertThatThrownBy(() -> CountersDecoder.decode(torn)).isInstanceOf(MalformedCountersException.class);
        }
    }

    /// With the right checksum, so that the other checks are reached.
    @Test
    void randomFilesAreDecodedOrRejected() {
        long seed = System.nanoTime();
        System.out.println("CountersCodecTest: seed " + seed);
        Random random = new Random(seed);
        int decoded = 0;
        for (int i = 0; i < 5000; i++) {
            byte[] file = encoded();
            for (int changes = random.nextInt(1, 20); changes > 0; changes--) {
                file[random.nextInt(12, file.length)] = (byte) random.nextInt();
            }
            try {
                CountersDecoder.decode(sealed(file));
                decoded++;
            } catch (MalformedCountersException e) {
                assertThat(e).hasMessageNotContaining("checksum");
            }
        }
        assertThat(decoded).isBetween(1, 4999);
    }

    /// Two namespaces that are unknown may be different ones, whose numbers say nothing about each other.
    @Test
    void aProcessInAnUnknownNamespaceIsNotDead() {
        ProcessIdentity own = ProcessIdentity.own();
        ProcessIdentity reader = new ProcessIdentity(own.pid(), own.start(), 0);
        assertThat(new ProcessIdentity(own.pid(), own.start() + 1, 0).isDead(reader))
                .isFalse();
        assertThat(new ProcessIdentity(own.pid(), own.start() + 1, 0).isDead(own))
                .isFalse();
        assertThat(new ProcessIdentity(own.pid(), own.start() + 1, own.namespace()).isDead(own))
                .isEqualTo(own.start() != 0 && own.namespace() != 0);
    }
}
