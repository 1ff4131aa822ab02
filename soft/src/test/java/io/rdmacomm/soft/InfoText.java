package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The numbers of a queue pair as a line of text, for another process.
final class InfoText {
    private InfoText() {}

    static String print(QueuePairInfo info) {
        return info.number() + " " + info.packetSequenceNumber() + " " + info.lid() + " "
                + info.gid().high() + " " + info.gid().low();
    }

    static QueuePairInfo parse(@Nullable String line) {
        long[] numbers = numbers(line);
        return new QueuePairInfo(
                (int) numbers[0],
                (int) numbers[1],
                (int) numbers[2],
                new Gid(numbers[3], numbers[4]),
                PathMtu.MTU_4096);
    }

    /// The numbers in a line that the other process has written.
    static long[] numbers(@Nullable String line) {
        assertThat(line).as("what the process says").isNotNull();
        return Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }
}
