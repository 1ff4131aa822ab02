package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The file that both sides map, and the names that a hostile server may send.
class CacheLineFloorTest {
    static List<ToDoubleFunction<CacheLineFloor>> measurements() {
        return List.of(CacheLineFloor::best, CacheLineFloor::median);
    }

    @ParameterizedTest
    @MethodSource("measurements")
    void bothSidesMeetInTheFileOfTheServer(ToDoubleFunction<CacheLineFloor> measurement) throws IOException {
        String name;
        try (CacheLineFloor server = CacheLineFloor.create();
                CacheLineFloor client = CacheLineFloor.open(server.name())) {
            name = server.name();
            CompletableFuture<Void> serving = CompletableFuture.runAsync(server::serve);

            assertThat(measurement.applyAsDouble(client)).isPositive();
            serving.join();
        }
        assertThatThrownBy(() -> CacheLineFloor.open(name)).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "rdmacomm-floor-",
                "rdmacomm-floor-1a",
                "rdmacomm-floor-1/2",
                "/dev/shm/rdmacomm-floor-1",
                "../rdmacomm-floor-1",
                "rdmacomm-floor-1\u0000",
                "secret"
            })
    void otherNamesAreRejected(String name) {
        assertThatThrownBy(() -> CacheLineFloor.open(name))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is not a file of rdmacomm bench");
    }

    @Test
    void aFileOfAnotherLengthIsRejected() throws IOException {
        try (CacheLineFloor server = CacheLineFloor.create()) {
            Path file = file(server);
            Files.write(file, new byte[4097]);

            assertThatThrownBy(() -> CacheLineFloor.open(server.name()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("4097 bytes");
        }
    }

    @Test
    void aLinkIsNotFollowed(@TempDir Path elsewhere) throws IOException {
        Path target = Files.write(elsewhere.resolve("target"), new byte[4096]);
        try (CacheLineFloor server = CacheLineFloor.create()) {
            Path file = file(server);
            Files.delete(file);
            Files.createSymbolicLink(file, target);

            assertThatThrownBy(() -> CacheLineFloor.open(server.name()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is not a file");
        }
    }

    private static Path file(CacheLineFloor server) {
        Path shared = Path.of("/dev/shm", server.name());
        return Files.exists(shared) ? shared : Path.of(System.getProperty("java.io.tmpdir"), server.name());
    }
}
