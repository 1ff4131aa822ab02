package io.rdmacomm.cli.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RowOrderTest {
    private static Row row(long pid, long failed, @Nullable Rates rates) {
        PublishedChannel channel = new PublishedChannel(
                1, "session", "peer", "data-0", 16, new ChannelStatistics(0, 0, failed, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        return new Row(
                new PublishedProcess(new ProcessIdentity(pid, 1, 1), "command", 0, 0, 0, List.of(channel)),
                channel,
                rates);
    }

    private static final Row IDLE = row(1, 5, null);
    private static final Row MANY_MESSAGES = row(2, 0, new Rates(1000, 1000, 64, 64, 0, 0));
    private static final Row MANY_BYTES = row(3, 1, new Rates(10, 0, 0, 1e9, 0, 0));

    private static List<Row> sorted(RowOrder order) {
        return Stream.of(IDLE, MANY_BYTES, MANY_MESSAGES)
                .sorted(order.comparator())
                .toList();
    }

    @Test
    void theMostImportantRowsComeFirst() {
        assertThat(sorted(RowOrder.BUSY)).containsExactly(MANY_MESSAGES, MANY_BYTES, IDLE);
        assertThat(sorted(RowOrder.BYTES)).containsExactly(MANY_BYTES, MANY_MESSAGES, IDLE);
        assertThat(sorted(RowOrder.ERRORS)).containsExactly(IDLE, MANY_BYTES, MANY_MESSAGES);
        assertThat(sorted(RowOrder.PID)).containsExactly(IDLE, MANY_MESSAGES, MANY_BYTES);
    }
}
