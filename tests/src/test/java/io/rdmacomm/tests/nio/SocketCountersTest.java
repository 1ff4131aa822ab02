package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.nio.RdmaSockets;
import io.rdmacomm.tests.nio.Sockets.Pair;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What is seen of sockets from outside.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class SocketCountersTest {
    private static final int BYTES = 1000;

    private final RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");

    @AfterEach
    void close() {
        provider.close();
    }

    private static void send(Pair pair) throws IOException {
        pair.client().write(ByteBuffer.allocate(BYTES));
        ByteBuffer arrived = ByteBuffer.allocate(BYTES);
        while (arrived.hasRemaining()) {
            pair.server().read(arrived);
        }
    }

    private static ChannelStatistics statistics(SocketChannel channel) {
        return RdmaSockets.statistics(channel).orElseThrow();
    }

    @Test
    void bytesAndMessagesAreCounted() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            send(pair);
            ChannelStatistics client = statistics(pair.client());
            assertThat(client.value(ChannelCounter.OPERATIONS)).isPositive();
            assertThat(client.value(ChannelCounter.BYTES_OUT)).isEqualTo(BYTES);
            assertThat(client.value(ChannelCounter.BYTES_IN)).isZero();
            ChannelStatistics server = statistics(pair.server());
            assertThat(server.value(ChannelCounter.MESSAGES)).isEqualTo(1);
            assertThat(server.value(ChannelCounter.BYTES_IN)).isEqualTo(BYTES);
        }
    }

    @Test
    void aWriteThatFindsNoRoomIsCounted() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            var _ = pair.client().configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            while (pair.client().write(bytes.clear()) == BYTES) {
                assertThat(statistics(pair.client()).value(ChannelCounter.CREDIT_STALLS))
                        .isZero();
            }
            ChannelStatistics client = statistics(pair.client());
            assertThat(client.value(ChannelCounter.CREDIT_STALLS) + client.value(ChannelCounter.WINDOW_STALLS))
                    .isEqualTo(1);
        }
    }

    @Test
    void aChannelWithoutRdmaHasNoCounters() throws Exception {
        try (SocketChannel channel = provider.openSocketChannel();
                SocketChannel plain = SocketChannel.open()) {
            assertThat(RdmaSockets.statistics(channel)).isEmpty();
            assertThat(RdmaSockets.statistics(plain)).isEmpty();
        }
    }

    private static List<PublishedChannel> published() throws IOException {
        return PublishedCounters.read().processes().stream()
                .filter(process ->
                        process.identity().pid() == ProcessHandle.current().pid())
                .flatMap(process -> process.channels().stream())
                .toList();
    }

    @Test
    void theSocketsOfAProgramArePublished() throws Exception {
        try (Pair pair = Pair.connect(provider)) {
            send(pair);
            String local = text(pair.client().getLocalAddress());
            Optional<PublishedChannel> client = Optional.empty();
            while (client.isEmpty() || client.get().value(ChannelCounter.BYTES_OUT) == 0) {
                Thread.onSpinWait();
                client = published().stream()
                        .filter(record -> record.channel().equals(local))
                        .findFirst();
            }
            assertThat(client.get().session()).isEqualTo("sockets on soft0");
            assertThat(client.get().peer()).isEqualTo(text(pair.client().getRemoteAddress()));
            assertThat(client.get().value(ChannelCounter.BYTES_OUT)).isEqualTo(BYTES);
            assertThat(published().stream().map(PublishedChannel::id)).doesNotHaveDuplicates();
        }
        provider.close();
        assertThat(published()).isEmpty();
    }

    private static String text(SocketAddress address) {
        return address.toString().substring(address.toString().indexOf('/') + 1);
    }

    private static List<RecordedEvent> recorded(Path file, String name) throws IOException {
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }

    @Test
    @SuppressWarnings("try") // the listening channel is closed early
    void connectionsAndErrorsAreRecorded(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("recording.jfr");
        SocketAddress server;
        try (Recording recording = new Recording()) {
            recording.start();
            try (Pair pair = Pair.connect(provider)) {
                server = pair.server().getLocalAddress();
                pair.client().setOption(StandardSocketOptions.SO_LINGER, 0);
                pair.client().close();
                assertThatExceptionOfType(IOException.class)
                        .isThrownBy(() -> pair.server().read(ByteBuffer.allocate(1)));
            }
            try (ServerSocketChannel listening = Sockets.listen(provider);
                    SocketChannel channel = provider.openSocketChannel()) {
                SocketAddress nobody = listening.getLocalAddress();
                listening.close();
                assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> channel.connect(nobody));
            }
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> connects = recorded(file, "io.rdmacomm.SocketConnect");
        assertThat(connects).hasSize(3);
        assertThat(connects)
                .filteredOn(event -> event.getBoolean("accepted"))
                .singleElement()
                .satisfies(event -> assertThat(event.getString("local")).isEqualTo(server.toString()));
        assertThat(connects)
                .filteredOn(event -> !event.getString("failure").isEmpty())
                .singleElement()
                .satisfies(event -> assertThat(event.getString("failure")).contains("refused"));
        assertThat(recorded(file, "io.rdmacomm.SocketError"))
                .singleElement()
                .satisfies(event -> assertThat(event.getString("failure")).contains("reset"));
    }
}
