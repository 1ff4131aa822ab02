package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.text.Printable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/// Encodes and decodes counters files; see [CountersLayout].
final class CountersCodec {
    private static final ChannelCounter[] COUNTERS = ChannelCounter.values();

    private CountersCodec() {}

    /// Encodes a file. Records beyond [CountersLayout#MOST_RECORDS] are left out and counted; long texts are
    /// truncated.
    static byte[] encode(ProcessRecord process) {
        int count = Math.min(process.records().size(), CountersLayout.MOST_RECORDS);
        byte[] file = new byte[recordAt(count)];
        ByteBuffer to = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        to.putLong(CountersLayout.MAGIC_AT, CountersLayout.MAGIC);
        to.putInt(CountersLayout.VERSION_AT, CountersLayout.VERSION);
        to.putInt(CountersLayout.RECORDS_AT, count);
        to.putLong(CountersLayout.PID_AT, process.process().pid());
        to.putLong(CountersLayout.START_AT, process.process().start());
        to.putLong(CountersLayout.NAMESPACE_AT, process.process().namespace());
        to.putLong(CountersLayout.NANOS_AT, process.publishedNanos());
        to.putLong(CountersLayout.MILLIS_AT, process.publishedMillis());
        to.putInt(
                CountersLayout.LEFT_OUT_AT,
                process.leftOut() + process.records().size() - count);
        putText(to, CountersLayout.COMMAND_AT, CountersLayout.COMMAND_BYTES, process.command());
        for (int i = 0; i < count; i++) {
            put(to, recordAt(i), process.records().get(i));
        }
        to.putInt(CountersLayout.CHECKSUM_AT, checksum(to));
        return file;
    }

    private static int recordAt(int index) {
        return CountersLayout.HEADER_BYTES + index * CountersLayout.RECORD_BYTES;
    }

    private static void put(ByteBuffer to, int at, CounterRecord record) {
        to.putLong(at + CountersLayout.ID_AT, record.id());
        for (int i = 0; i < COUNTERS.length; i++) {
            to.putLong(counterAt(at, i), record.value(COUNTERS[i]));
        }
        to.putLong(counterAt(at, COUNTERS.length), record.inFlight());
        putText(to, at + CountersLayout.SESSION_AT, CountersLayout.NAME_BYTES, record.session());
        putText(to, at + CountersLayout.PEER_AT, CountersLayout.NAME_BYTES, record.peer());
        putText(to, at + CountersLayout.CHANNEL_AT, CountersLayout.CHANNEL_BYTES, record.channel());
    }

    private static int counterAt(int record, int index) {
        return record + CountersLayout.COUNTERS_AT + index * Long.BYTES;
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

    private static int checksum(ByteBuffer content) {
        CRC32C checksum = new CRC32C();
        checksum.update(content.slice(0, CountersLayout.CHECKSUM_AT));
        checksum.update(new byte[Integer.BYTES]);
        int rest = CountersLayout.CHECKSUM_AT + Integer.BYTES;
        checksum.update(content.slice(rest, content.capacity() - rest));
        return (int) checksum.getValue();
    }

    /// Decodes an untrusted file: checks every number, and replaces characters that would disturb a terminal.
    ///
    /// @throws MalformedCountersException if it is not a whole file of this version
    static ProcessRecord decode(byte[] file) throws MalformedCountersException {
        ByteBuffer from = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int count = checkedCount(from);
        List<CounterRecord> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            records.add(get(from, recordAt(i)));
        }
        long pid = from.getLong(CountersLayout.PID_AT);
        int leftOut = from.getInt(CountersLayout.LEFT_OUT_AT);
        if (pid <= 0 || leftOut < 0) {
            throw new MalformedCountersException("process " + pid + " with " + leftOut + " channels left out");
        }
        return new ProcessRecord(
                new ProcessIdentity(
                        pid, from.getLong(CountersLayout.START_AT), from.getLong(CountersLayout.NAMESPACE_AT)),
                getText(from, CountersLayout.COMMAND_AT, CountersLayout.COMMAND_BYTES),
                from.getLong(CountersLayout.NANOS_AT),
                from.getLong(CountersLayout.MILLIS_AT),
                leftOut,
                records);
    }

    private static int checkedCount(ByteBuffer from) throws MalformedCountersException {
        if (from.capacity() < CountersLayout.HEADER_BYTES
                || from.getLong(CountersLayout.MAGIC_AT) != CountersLayout.MAGIC) {
            throw new MalformedCountersException("not a counters file");
        }
        int version = from.getInt(CountersLayout.VERSION_AT);
        if (version != CountersLayout.VERSION) {
            throw new MalformedCountersException("version " + version + ", where this rdmacomm reads version "
                    + CountersLayout.VERSION + "; use the rdmacomm of that process");
        }
        int count = from.getInt(CountersLayout.RECORDS_AT);
        if (count < 0 || count > CountersLayout.MOST_RECORDS || from.capacity() != recordAt(count)) {
            throw new MalformedCountersException(count + " records in " + from.capacity() + " bytes");
        }
        if (from.getInt(CountersLayout.CHECKSUM_AT) != checksum(from)) {
            throw new MalformedCountersException("wrong checksum");
        }
        return count;
    }

    private static CounterRecord get(ByteBuffer from, int at) throws MalformedCountersException {
        long[] values = new long[COUNTERS.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = from.getLong(counterAt(at, i));
        }
        return new CounterRecord(
                from.getLong(at + CountersLayout.ID_AT),
                getText(from, at + CountersLayout.SESSION_AT, CountersLayout.NAME_BYTES),
                getText(from, at + CountersLayout.PEER_AT, CountersLayout.NAME_BYTES),
                getText(from, at + CountersLayout.CHANNEL_AT, CountersLayout.CHANNEL_BYTES),
                from.getLong(counterAt(at, COUNTERS.length)),
                new ChannelStatistics(values));
    }

    private static String getText(ByteBuffer from, int at, int room) throws MalformedCountersException {
        int length = from.getShort(at);
        if (length < 0 || length > room - Short.BYTES) {
            throw new MalformedCountersException("a text of " + length + " bytes in the room for " + room);
        }
        byte[] bytes = new byte[length];
        from.get(at + Short.BYTES, bytes);
        return Printable.text(bytes);
    }
}
