package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.statistics.SessionStatistics;
import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The counters of channels, their sums, and how they get into the counters file.
final class StatisticsTest {
    @TempDir
    Path base;

    @BeforeEach
    void choose() {
        System.setProperty(CountersFolder.PROPERTY, base.toString());
    }

    @AfterEach
    void forget() {
        System.clearProperty(CountersFolder.PROPERTY);
    }

    private static void exchange(EndPoint from, EndPoint to, BufferSlice slice, int channel) {
        from.channel(channel).blocking(TIMEOUT).send(slice);
        to.channel(channel).blocking(TIMEOUT).receive().close();
    }

    @Test
    void anEndPointHasTheSumOfItsChannels() {
        SessionOptions options = SessionOptions.defaults().withChannels(2);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BufferSlice slice = pair.client.allocate("source", 8).block(0);
            exchange(pair.clientEnd, pair.serverEnd, slice, 0);
            exchange(pair.clientEnd, pair.serverEnd, slice, 1);
            exchange(pair.clientEnd, pair.serverEnd, slice, 1);

            assertThat(pair.clientEnd.channel(1).statistics().value(ChannelCounter.BYTES_OUT))
                    .isEqualTo(16);
            assertThat(pair.clientEnd.statistics().value(ChannelCounter.BYTES_OUT))
                    .isEqualTo(24);
            assertThat(pair.clientEnd.statistics().value(ChannelCounter.OPERATIONS))
                    .isEqualTo(3);
            assertThat(pair.serverEnd.statistics().value(ChannelCounter.MESSAGES))
                    .isEqualTo(3);
            assertThat(pair.serverEnd.statistics().value(ChannelCounter.BYTES_IN))
                    .isEqualTo(24);
        }
    }

    @Test
    void aSessionKeepsTheCountersOfClosedEndPoints() {
        try (ServerSession server =
                ServerSession.listen(SessionOptions.defaults().withAddress("127.0.0.1", 0))) {
            SessionOptions options = SessionOptions.defaults().withAddress("127.0.0.1", server.port());
            for (int client = 1; client <= 3; client++) {
                ClientSession session = ClientSession.connect(options);
                EndPoint here = server.accept(TIMEOUT);
                try (session) {
                    BufferSlice slice = session.allocate("source", 8).block(0);
                    exchange(session.endPoint(), here, slice, 0);
                    assertThat(server.statistics().endPoints()).isEqualTo(1);
                    assertThat(server.statistics().channels().value(ChannelCounter.MESSAGES))
                            .isEqualTo(client);
                }
                here.close();
                assertThat(session.statistics().endPoints()).isZero();
                assertThat(session.statistics().channels().value(ChannelCounter.BYTES_OUT))
                        .isEqualTo(8);
            }
            SessionStatistics statistics = server.statistics();
            assertThat(statistics.endPoints()).isZero();
            assertThat(statistics.setUp()).isEqualTo(3);
            assertThat(statistics.failed()).isZero();
            assertThat(statistics.channels().value(ChannelCounter.BYTES_IN)).isEqualTo(24);
        }
    }

    @Test
    void theSumIsOfAllCounters() {
        ChannelStatistics one = new ChannelStatistics(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        ChannelStatistics ten = new ChannelStatistics(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120);
        assertThat(one.plus(ten)).isEqualTo(new ChannelStatistics(11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121, 132));
    }

    private static List<PublishedChannel> published() {
        try {
            List<PublishedProcess> processes = PublishedCounters.read().processes();
            return processes.isEmpty() ? List.of() : processes.getFirst().channels();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aProgramThatUsesTheLibraryPublishesItsChannels() {
        SessionOptions options = SessionOptions.defaults().withName("twin");
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BufferSlice slice = pair.client.allocate("source", 8).block(0);
            exchange(pair.clientEnd, pair.serverEnd, slice, 0);

            eventually(() -> published().stream()
                            .mapToLong(record -> record.value(ChannelCounter.BYTES_IN))
                            .sum()
                    == 8);
            assertThat(published()).hasSize(2).allSatisfy(record -> {
                assertThat(record.session()).isEqualTo("twin");
                assertThat(record.peer()).startsWith("twin 127.0.0.1");
                assertThat(record.channel()).isEqualTo("data-0");
            });
            assertThat(published().stream().map(PublishedChannel::id).distinct())
                    .hasSize(2);
        }
        assertThat(CountersFolder.ofUser().path()).doesNotExist();
    }

    @Test
    void aServerWithoutClientsIsPublished() {
        try (ServerSession _ = ServerSession.listen(
                SessionOptions.defaults().withName("lonely").withAddress("127.0.0.1", 0))) {
            // A thread of the session makes the file.
            eventually(() -> !published().isEmpty());
            assertThat(published()).singleElement().satisfies(record -> {
                assertThat(record.session()).isEqualTo("lonely");
                assertThat(record.peer()).isEmpty();
            });
        }
    }
}
