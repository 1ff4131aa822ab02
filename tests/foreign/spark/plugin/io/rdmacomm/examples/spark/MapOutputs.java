package io.rdmacomm.examples.spark;

import io.rdmacomm.comm.*;
import io.rdmacomm.verbs.AccessFlag;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

/// The map outputs of this executor. Peers READ them where Spark has put them, in files. Thread-safe.
final class MapOutputs {
    /// A block in a question: shuffle, map task, partition.
    static final int BLOCK_BYTES = Integer.BYTES + Long.BYTES + Integer.BYTES;
    /// Its place in the answer: address, key, and size, which is 0 if it cannot be READ.
    static final int PLACE_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

    private record Output(RdmaBuffer buffer, long[] lengths, long[] ends) {}

    private final Session session;
    private final long limit;
    private final Map<Integer, Map<Long, Output>> shuffles = new ConcurrentHashMap<>();

    /// @param limit the most bytes that the session has registered when an output is added
    MapOutputs(Session session, long limit) {
        this.session = session;
        this.limit = limit;
    }

    /// Adds the output of a map task, which is committed.
    ///
    /// @param lengths of the partitions, which are in the file one after the other
    /// @return false if there is no file, because there were no records, or no room
    boolean add(int shuffle, long map, File data, long[] lengths) throws IOException {
        long[] ends = lengths.clone();
        Arrays.parallelPrefix(ends, Long::sum);
        long bytes = ends[ends.length - 1];
        if (!data.exists() || session.statistics().registeredBytes() + bytes > limit) {
            return false;
        }
        try (FileChannel file = FileChannel.open(data.toPath(), StandardOpenOption.READ)) {
            if (file.size() != bytes) {
                throw new IOException(data + " has " + file.size() + " bytes, its partitions have " + bytes);
            }
            RdmaBuffer buffer = session.map(data.getName(), file, 0, bytes, Set.of(AccessFlag.REMOTE_READ));
            shuffles.computeIfAbsent(shuffle, id -> new ConcurrentHashMap<>())
                    .put(map, new Output(buffer, lengths, ends));
            return true;
        }
    }

    /// No job uses the shuffle any more. If a peer READs at this moment, its endpoint fails: it then uses Spark's
    /// client, and connects again.
    void remove(int shuffle) {
        Map<Long, Output> outputs = shuffles.remove(shuffle);
        if (outputs != null) {
            outputs.values().forEach(output -> output.buffer.close());
        }
    }

    /// Answers where blocks are. Never blocks.
    void answer(Question question) {
        try (question) {
            ByteBuffer blocks = question.message().segment().asByteBuffer();
            ByteBuffer places = ByteBuffer.allocate(blocks.remaining() / BLOCK_BYTES * PLACE_BYTES);
            while (places.hasRemaining()) {
                place(blocks.getInt(), blocks.getLong(), blocks.getInt(), places);
            }
            question.answer(places.array());
        }
    }

    private void place(int shuffle, long map, int partition, ByteBuffer places) {
        Output output = shuffles.getOrDefault(shuffle, Map.of()).get(map);
        if (output == null) {
            places.putLong(0).putInt(0).putLong(0);
        } else {
            long address = output.buffer.asRemote().address() + output.ends[partition] - output.lengths[partition];
            places.putLong(address).putInt(output.buffer.asRemote().key()).putLong(output.lengths[partition]);
        }
    }
}
