package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The events of the flight recorder.
final class FlightRecorderTest {
    @Test
    void connectionsStallsAndErrorsAreRecorded(@TempDir Path folder) throws IOException {
        SessionOptions options = SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(ChannelOptions.defaults().withReceives(1));
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            try (ConnectedPair pair = ConnectedPair.of(options)) {
                stallOnce(pair);
                BufferSlice slice = pair.client.allocate("bad", 8).block(0);
                RemoteBuffer invented = RemoteBuffer.of("invented", 8, 8, 99, AccessFlag.allRemote());
                assertThat(pair.clientChannel()
                                .tryWrite(slice, invented, 0, CompletionHandler.NONE, 0)
                                .isAccepted())
                        .isTrue();
                pair.until(() -> pair.clientEnd.state() == EndPointState.FAILED);
            }
            recording.stop();
            recording.dump(file);
        }

        assertThat(names(file)).contains("io.rdmacomm.Connect", "io.rdmacomm.CreditStall", "io.rdmacomm.Error");
        assertThat(RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getEventType().getName().equals("io.rdmacomm.Connect")))
                .hasSize(2)
                .allMatch(event -> event.getInt("protocolVersion") == 1 && event.getLong("features") == 0);
    }

    @Test
    void registeredMemoryIsRecorded(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("recording.jfr");
        List<Long> registered = new ArrayList<>();
        try (Recording recording = new Recording()) {
            recording.start();
            SessionOptions options = SessionOptions.defaults().withMemoryLimit(1 << 30);
            try (ConnectedPair pair = ConnectedPair.of(options.withName("mine"))) {
                RdmaBuffer buffer = pair.client.allocate("block", 12_288);
                registered.add(pair.client.statistics().registeredBytes());
                buffer.close();
                buffer.close();
                registered.add(pair.client.statistics().registeredBytes());
            }
            recording.stop();
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("io.rdmacomm.Memory"))
                .filter(event -> event.getString("session").equals("mine"))
                .toList();
        assertThat(events).allMatch(event -> event.getLong("limit") == 1 << 30);
        assertThat(events).extracting(event -> event.getString("buffer")).contains("receives", "cells");
        assertThat(events.stream().mapToLong(event -> event.getLong("bytes")).sum())
                .as("all was given back")
                .isZero();
        List<RecordedEvent> block = events.stream()
                .filter(event -> event.getString("buffer").equals("block"))
                .toList();
        assertThat(block).extracting(event -> event.getLong("bytes")).containsExactly(12_288L, -12_288L);
        assertThat(block).extracting(event -> event.getLong("registered")).containsExactlyElementsOf(registered);
    }

    @Test
    void meshesAndCollectivesAreRecorded(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            try (MeshNodes nodes = MeshNodes.join(2, SessionOptions.defaults())) {
                var other = MeshNodes.inThread(() -> {
                    nodes.node(1).barrier(TIMEOUT);
                    return true;
                });
                nodes.node(0).barrier(TIMEOUT);
                other.join();
            }
            recording.stop();
            recording.dump(file);
        }

        assertThat(names(file)).contains("io.rdmacomm.Mesh", "io.rdmacomm.Collective");
    }

    /// The first class of an event costs a tenth of a second, even if nobody records.
    @Test
    void nothingIsPreparedForARecorderThatIsNotThere() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xlog:class+load",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ManagementTest.Program.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(output.lines()).contains("works");
            assertThat(output.lines().filter(line -> line.contains(" jdk.jfr.Event ")))
                    .isEmpty();
        } finally {
            process.destroyForcibly();
        }
    }

    private static Set<String> names(Path file) throws IOException {
        return RecordingFile.readAllEvents(file).stream()
                .map(RecordedEvent::getEventType)
                .map(type -> type.getName())
                .filter(name -> name.startsWith("io.rdmacomm."))
                .collect(Collectors.toSet());
    }

    private static void stallOnce(ConnectedPair pair) {
        BufferSlice slice = pair.client.allocate("source", 8).block(0);
        RdmaChannel channel = pair.clientChannel();
        assertThat(channel.trySend(slice, CompletionHandler.NONE, 0).isAccepted())
                .isTrue();
        assertThat(channel.trySend(slice, CompletionHandler.NONE, 0).isAccepted())
                .isFalse();
        pair.serverChannel().blocking(TIMEOUT).receive().close();
        eventually(() -> {
            pair.client.poll();
            return channel.trySend(slice, CompletionHandler.NONE, 0).isAccepted();
        });
    }
}
