package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Somebody makes a file shorter that a program has mapped. The operation that needs the missing part fails, also
/// in compiled code, where Java tells of the fault late. It never ends well with whatever was in memory, and
/// never ends the process.
@Tag("slow")
class TruncatedFileTest {
    private static final int BYTES = 64 * 1024;
    private static final int WARM = 20_000;
    private static final int LEFT = 4096;

    enum Line {
        SHARED("soft0=127.0.0.1"),
        /// Peers cannot find the file.
        STAGED("soft0=127.0.0.1"),
        TCP("tcp0=127.0.0.1?sharedMemory=false"),
        CHECKED("tcp0=127.0.0.1?sharedMemory=false&checksum=true"),
        ROCE("roce0=127.0.0.%d?transport=roce");

        final String device;

        Line(String device) {
            this.device = device;
        }
    }

    /// What is done with the file.
    enum Use {
        READ_FROM,
        WRITE_TO,
        SEND_TO,
        ADD_TO,
        WRITE_FROM,
        SEND_FROM,
        READ_TO
    }

    @TempDir
    private Path folder;

    static Stream<Arguments> cases() {
        return Stream.of(Line.values())
                .flatMap(line -> Stream.of(Use.values())
                        .flatMap(use -> Stream.of(8, 1000, LEFT).map(bytes -> Arguments.of(line, use, bytes))));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void failsAnOperation(Line line, Use use, int bytes) throws IOException {
        try (AddressEnd here = new AddressEnd(String.format(Locale.ROOT, line.device, 83));
                AddressEnd there = new AddressEnd(String.format(Locale.ROOT, line.device, 84))) {
            SendBatch batch = here.batch();
            here.pair.connect(there.pair.info());
            there.pair.connect(here.pair.info());
            Path path = folder.resolve("file");
            Files.write(path, new byte[BYTES]);
            boolean far = use == Use.READ_FROM || use == Use.WRITE_TO || use == Use.SEND_TO || use == Use.ADD_TO;
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                MemoryRegion file = (far ? there : here).domain.map(channel, 0, BYTES, AccessFlag.allRemote());
                if (line == Line.STAGED) {
                    Files.delete(path);
                }
                int rounds = line == Line.SHARED ? WARM : WARM / 20;
                for (int i = 0; i < rounds; i++) {
                    post(batch, here, there, use, file, bytes);
                    here.succeeded(1);
                    if (use == Use.SEND_TO || use == Use.SEND_FROM) {
                        there.succeeded(2);
                    }
                }

                channel.truncate(LEFT);
                post(batch, here, there, use, file, bytes);

                assertThat(here.next().status()).as("the request").isNotEqualTo(WorkStatus.SUCCESS);
                if (line == Line.ROCE && use == Use.SEND_FROM) {
                    assertThat(there.isQuiet())
                            .as("a peer of which nothing is heard")
                            .isTrue();
                } else if (use == Use.SEND_TO || use == Use.SEND_FROM) {
                    assertThat(there.next().status()).as("the receive").isNotEqualTo(WorkStatus.SUCCESS);
                }
                file.close();
            }
            here.renew();
            there.renew();
            here.pair.connect(there.pair.info());
            there.pair.connect(here.pair.info());
            post(here.batch(), here, there, Use.READ_FROM, there.region, bytes);
            here.succeeded(1);
        }
    }

    private static void post(
            SendBatch batch, AddressEnd here, AddressEnd there, Use use, MemoryRegion file, int bytes) {
        int at = BYTES / 2;
        switch (use) {
            case READ_FROM ->
                here.post(batch.clear()
                        .read(1, file.remote().slice(at, bytes))
                        .with(here.region, 0, bytes)
                        .signaled());
            case WRITE_TO ->
                here.post(batch.clear()
                        .write(1, file.remote().slice(at, bytes))
                        .with(here.region, 0, bytes)
                        .signaled());
            case ADD_TO ->
                here.post(batch.clear()
                        .fetchAndAdd(1, file.remote().slice(at, 8), 1)
                        .with(here.region, 0, 8)
                        .signaled());
            case WRITE_FROM ->
                here.post(batch.clear()
                        .write(1, there.region.remote().slice(0, bytes))
                        .with(file, at, bytes)
                        .signaled());
            case READ_TO ->
                here.post(batch.clear()
                        .read(1, there.region.remote().slice(0, bytes))
                        .with(file, at, bytes)
                        .signaled());
            case SEND_TO -> {
                receive(there, file, at, bytes);
                here.post(batch.clear().send(1).with(here.region, 0, bytes).signaled());
            }
            case SEND_FROM -> {
                receive(there, there.region, 0, bytes);
                here.post(batch.clear().send(1).with(file, at, bytes).signaled());
            }
        }
    }

    private static void receive(AddressEnd there, MemoryRegion region, long at, int bytes) {
        try (Arena once = Arena.ofConfined()) {
            assertThat(there.pair.post(
                            ReceiveBatch.create(once, 1, 1).receive(2).with(region, at, bytes)))
                    .isEqualTo(1);
        }
    }
}
