package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.counters.file.CountersLayout;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// Encodes counters files; see [CountersLayout].
final class CountersEncoder {
    private static final ChannelCounter[] COUNTERS = ChannelCounter.values();

    private CountersEncoder() {}

    /// Encodes a file. Records beyond [CountersLayout#MOST_RECORDS] are left out and counted; long texts are
    /// truncated.
    static byte[] encode(PublishedProcess process) {
        int count = Math.min(process.channels().size(), CountersLayout.MOST_RECORDS);
        byte[] file = new byte[CountersLayout.recordAt(count)];
        ByteBuffer to = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        to.putLong(CountersLayout.MAGIC_AT, CountersLayout.MAGIC);
        to.putInt(CountersLayout.VERSION_AT, CountersLayout.VERSION);
        to.putInt(CountersLayout.RECORDS_AT, count);
        to.putLong(CountersLayout.PID_AT, process.identity().pid());
        to.putLong(CountersLayout.START_AT, process.identity().start());
        to.putLong(CountersLayout.NAMESPACE_AT, process.identity().namespace());
        to.putLong(CountersLayout.NANOS_AT, process.publishedNanos());
        to.putLong(CountersLayout.MILLIS_AT, process.publishedMillis());
        to.putInt(
                CountersLayout.LEFT_OUT_AT,
                process.leftOut() + process.channels().size() - count);
        putText(to, CountersLayout.COMMAND_AT, CountersLayout.COMMAND_BYTES, process.command());
        for (int i = 0; i < count; i++) {
            put(to, CountersLayout.recordAt(i), process.channels().get(i));
        }
        to.putInt(CountersLayout.CHECKSUM_AT, CountersLayout.checksum(to));
        return file;
    }

    private static void put(ByteBuffer to, int at, PublishedChannel record) {
        to.putLong(at + CountersLayout.ID_AT, record.id());
        for (int i = 0; i < COUNTERS.length; i++) {
            to.putLong(CountersLayout.counterAt(at, i), record.value(COUNTERS[i]));
        }
        to.putLong(CountersLayout.counterAt(at, COUNTERS.length), record.inFlight());
        to.putLong(at + CountersLayout.REGISTERED_AT, record.registeredBytes());
        to.putLong(at + CountersLayout.LIMIT_AT, record.memoryLimit());
        putText(to, at + CountersLayout.SESSION_AT, CountersLayout.NAME_BYTES, record.session());
        putText(to, at + CountersLayout.PEER_AT, CountersLayout.NAME_BYTES, record.peer());
        putText(to, at + CountersLayout.CHANNEL_AT, CountersLayout.CHANNEL_BYTES, record.channel());
    }

    /// Writes as much of `text` as fits, without a partial character at its end.
    private static void putText(ByteBuffer to, int at, int room, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, room - Short.BYTES);
        while (length < bytes.length && length > 0 && (bytes[length] & 0xc0) == 0x80) {
            length--;
        }
        to.putShort(at, (short) length);
        to.put(at + Short.BYTES, bytes, 0, length);
    }
}
