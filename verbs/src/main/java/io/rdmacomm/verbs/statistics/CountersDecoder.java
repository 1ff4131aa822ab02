package io.rdmacomm.verbs.statistics;

import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.counters.file.CountersLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Decodes counters files; see [CountersLayout].
final class CountersDecoder {
    private static final ChannelCounter[] COUNTERS = ChannelCounter.values();

    private CountersDecoder() {}

    /// Decodes an untrusted file: checks every number, and replaces characters that would disturb a terminal.
    ///
    /// @throws MalformedCountersException if it is not a whole file of this version
    static PublishedProcess decode(byte[] file) throws MalformedCountersException {
        ByteBuffer from = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        int count = checkedCount(from);
        List<PublishedChannel> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            records.add(get(from, CountersLayout.recordAt(i)));
        }
        long pid = from.getLong(CountersLayout.PID_AT);
        int leftOut = from.getInt(CountersLayout.LEFT_OUT_AT);
        if (pid <= 0 || leftOut < 0) {
            throw new MalformedCountersException("process " + pid + " with " + leftOut + " channels left out");
        }
        return new PublishedProcess(
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
        if (count < 0 || count > CountersLayout.MOST_RECORDS || from.capacity() != CountersLayout.recordAt(count)) {
            throw new MalformedCountersException(count + " records in " + from.capacity() + " bytes");
        }
        if (from.getInt(CountersLayout.CHECKSUM_AT) != CountersLayout.checksum(from)) {
            throw new MalformedCountersException("wrong checksum");
        }
        return count;
    }

    private static PublishedChannel get(ByteBuffer from, int at) throws MalformedCountersException {
        long[] values = new long[COUNTERS.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = from.getLong(CountersLayout.counterAt(at, i));
        }
        return new PublishedChannel(
                from.getLong(at + CountersLayout.ID_AT),
                getText(from, at + CountersLayout.SESSION_AT, CountersLayout.NAME_BYTES),
                getText(from, at + CountersLayout.PEER_AT, CountersLayout.NAME_BYTES),
                getText(from, at + CountersLayout.CHANNEL_AT, CountersLayout.CHANNEL_BYTES),
                from.getLong(CountersLayout.counterAt(at, COUNTERS.length)),
                from.getLong(at + CountersLayout.REGISTERED_AT),
                from.getLong(at + CountersLayout.LIMIT_AT),
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
