package io.rdmacomm.verbs.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// When there is a counters file, and what happens when it cannot be written.
final class CountersPublisherTest {
    @TempDir
    private Path base;

    private final CountersPublisher publisher = new CountersPublisher(true, false);
    private int asked;
    private final CounterSource first = () -> {
        asked++;
        return List.of(Records.record(1, "first", asked));
    };
    private final CounterSource second = () -> List.of(Records.record(2, "second", 1));

    @BeforeEach
    void choose() {
        System.setProperty(CountersFolder.PROPERTY, base.toString());
    }

    @AfterEach
    void forget() {
        System.clearProperty(CountersFolder.PROPERTY);
    }

    private static List<PublishedProcess> read() throws IOException {
        return PublishedCounters.read().processes();
    }

    @Test
    void thereIsAFileWhileThereAreSources() throws IOException {
        assertThat(read()).isEmpty();
        publisher.tick();
        assertThat(read()).isEmpty();

        publisher.add(first);
        assertThat(read()).as("no connection waits for the file").isEmpty();
        publisher.tick();
        publisher.add(second);
        assertThat(read()).singleElement().satisfies(process -> {
            assertThat(process.identity()).isEqualTo(ProcessIdentity.own());
            assertThat(process.command()).isNotEmpty();
            assertThat(process.channels()).containsExactly(Records.record(1, "first", 1));
        });

        publisher.remove(first);
        assertThat(read()).hasSize(1);
        publisher.remove(second);
        publisher.remove(second);
        assertThat(CountersFolder.ofUser().path()).doesNotExist();

        publisher.add(second);
        publisher.tick();
        assertThat(read().getFirst().channels()).containsExactly(Records.record(2, "second", 1));
        publisher.remove(second);
    }

    @Test
    void itPublishesOnceASecond() throws IOException {
        long start = System.nanoTime();
        publisher.add(first);
        while (asked < 3) {
            publisher.tick();
            LockSupport.parkNanos(1_000_000);
            assertThat(System.nanoTime() - start).isLessThan(60_000_000_000L);
        }
        assertThat(System.nanoTime() - start).isGreaterThan(1_900_000_000L);
        assertThat(read().getFirst().channels()).containsExactly(Records.record(1, "first", 3));
        publisher.remove(first);
    }

    @Test
    void turnedOffItMakesNoFile() throws IOException {
        CountersPublisher off = new CountersPublisher(false, false);
        off.add(first);
        off.tick();
        assertThat(CountersFolder.ofUser().path()).doesNotExist();
        off.remove(first);
        assertThat(asked).isZero();
    }

    @Test
    void aFolderThatCannotBeMadeTurnsItOff() throws IOException {
        Path file = Files.createFile(base.resolve("file"));
        System.setProperty(CountersFolder.PROPERTY, file.toString());
        publisher.add(first);
        publisher.tick();
        publisher.add(second);
        publisher.tick();
        assertThat(asked).isZero();
        assertThat(file).isEmptyFile();
    }
}
