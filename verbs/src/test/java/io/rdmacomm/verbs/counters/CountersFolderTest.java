package io.rdmacomm.verbs.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The folder of counters files: hostile content, dead processes, and a writer beside the reader.
final class CountersFolderTest {
    private static final ProcessIdentity OWN = ProcessIdentity.own();

    @TempDir
    private Path base;

    private CountersFolder folder;

    @BeforeEach
    void name() {
        folder = new CountersFolder(base);
    }

    private CountersFile publish(ProcessIdentity process, int records) throws IOException {
        CountersFile file = CountersFile.create(folder, process);
        file.write(CountersEncoder.encode(Records.process(process, Records.records(records))));
        return file;
    }

    @Test
    void onlyTheUserMayReadIt() throws IOException {
        try (CountersFile file = publish(OWN, 2)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.path())))
                    .isEqualTo("rwx------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void whatIsPublishedIsRead() throws IOException {
        assertThat(PublishedCounters.read(base).processes()).isEmpty();
        try (CountersFile file = publish(OWN, 2)) {
            assertThat(PublishedCounters.read(base).processes())
                    .containsExactly(Records.process(OWN, Records.records(2)));

            file.write(CountersEncoder.encode(Records.process(OWN, Records.records(1))));
            assertThat(PublishedCounters.read(base).processes())
                    .containsExactly(Records.process(OWN, Records.records(1)));
            assertThat(PublishedCounters.read(base).problems()).isEmpty();
        }
        assertThat(folder.path()).as("the last one to leave removes it").doesNotExist();
    }

    @Test
    void theFileOfADeadProcessIsRemoved() throws Exception {
        Process process = new ProcessBuilder("sleep", "600").start();
        ProcessIdentity identity = identity(process);
        CountersFile file = publish(identity, 1);
        try {
            assertThat(PublishedCounters.read(base).processes()).hasSize(1);
            process.destroyForcibly().waitFor();

            assertThat(PublishedCounters.read(base))
                    .isEqualTo(new PublishedCounters(folder.path(), List.of(), List.of()));
            assertThat(file.path()).doesNotExist();
        } finally {
            process.destroyForcibly();
            file.close();
        }
    }

    @Test
    void theNextStartRemovesItToo() throws Exception {
        CountersFile left = publish(new ProcessIdentity(OWN.pid(), OWN.start() + 1, OWN.namespace()), 1);
        try (CountersFile file = publish(OWN, 1)) {
            assertThat(file.path()).exists();
            assertThat(left.path()).as("the number of its process was reused").doesNotExist();
        }
        left.close();
    }

    @Test
    void aProcessOfAnotherContainerIsLeftAlone() throws IOException {
        ProcessIdentity foreign = new ProcessIdentity(OWN.pid(), OWN.start() + 1, OWN.namespace() + 1);
        try (CountersFile file = publish(foreign, 1)) {
            assertThat(PublishedCounters.read(base).processes()).hasSize(1);
            assertThat(file.path()).exists();
        }
    }

    private static ProcessIdentity identity(Process process) throws IOException {
        String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
        String start = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19];
        return new ProcessIdentity(process.pid(), Long.parseLong(start), OWN.namespace());
    }

    @Test
    @Timeout(20)
    void strangeFilesAreProblemsAndNothingElse() throws Exception {
        try (CountersFile file = publish(OWN, 1)) {
            Files.write(folder.path().resolve("1-empty.counters"), new byte[0]);
            Files.write(folder.path().resolve("2-zeros.counters"), new byte[4096]);
            Path large = folder.path().resolve("3-large.counters");
            Files.write(large, Files.readAllBytes(file.path()));
            try (var sparse = new java.io.RandomAccessFile(large.toFile(), "rw")) {
                sparse.setLength(1L << 40);
            }
            Files.createDirectory(folder.path().resolve("4-folder.counters"));
            Files.createSymbolicLink(folder.path().resolve("5-link.counters"), file.path());
            Path pipe = folder.path().resolve("6-pipe.counters");
            assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                    .isZero();
            Files.writeString(folder.path().resolve("other"), "not a counters file, not of this name");

            PublishedCounters content = PublishedCounters.read(base);

            assertThat(content.processes()).hasSize(1);
            assertThat(content.problems()).hasSize(6);
            assertThat(content.problems().get(0)).contains("1-empty", "not a counters file");
            assertThat(content.problems().get(2)).contains("3-large", "longer");
            assertThat(content.problems().get(4)).contains("5-link", "not a regular file");
            assertThat(content.problems().get(5)).contains("6-pipe", "not a regular file");
        }
    }

    @Test
    void aDamagedFileThatNobodyWritesIsRemovedLater() throws IOException {
        try (CountersFile file = publish(OWN, 1)) {
            Path damaged = Files.write(folder.path().resolve("1-damaged.counters"), new byte[600]);
            assertThat(PublishedCounters.read(base).problems()).hasSize(1);
            Files.setLastModifiedTime(damaged, FileTime.from(Instant.now().minus(Duration.ofHours(2))));

            assertThat(PublishedCounters.read(base).problems()).isEmpty();
            assertThat(damaged).doesNotExist();
            assertThat(file.path()).exists();
        }
    }

    @Test
    void theFolderOfAnotherUserLocksNobodyOut() throws IOException {
        Path usual = Files.createDirectory(folder.path());
        for (String rights : new String[] {"rwxrwxrwx", "rwxr-x---"}) {
            Files.setPosixFilePermissions(usual, PosixFilePermissions.fromString(rights));
            worksBeside(usual);
        }
        Files.setPosixFilePermissions(usual, PosixFilePermissions.fromString("rwx------"));
        if (OWN.pid() > 0 && Integer.valueOf(0).equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))) {
            Files.setAttribute(usual, "unix:uid", 1);
            worksBeside(usual);
        } else {
            System.out.println(
                    "SKIPPED, only root can give a folder away: part of theFolderOfAnotherUserLocksNobodyOut");
        }
    }

    @Test
    void aLinkInPlaceOfTheFolderLocksNobodyOut() throws IOException {
        Path elsewhere = Files.createDirectory(
                base.resolve("elsewhere"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        worksBeside(Files.createSymbolicLink(folder.path(), elsewhere));
    }

    /// What lies in a folder of somebody else is not read, and what this user publishes does not get there.
    private void worksBeside(Path foreign) throws IOException {
        Path planted = Files.write(
                foreign.resolve("1-planted.counters"),
                CountersEncoder.encode(Records.process(OWN, Records.records(3))));
        try (CountersFile file = publish(OWN, 2)) {
            assertThat(file.path().getParent()).isNotEqualTo(foreign);
            assertThat(folder.path()).isEqualTo(file.path().getParent());
            assertThat(PublishedCounters.read(base).processes())
                    .containsExactly(Records.process(OWN, Records.records(2)));
            assertThat(PublishedCounters.read(base).problems()).isEmpty();
        }
        assertThat(planted).exists();
        Files.delete(planted);
        assertThat(PublishedCounters.read(base)).isEqualTo(new PublishedCounters(folder.path(), List.of(), List.of()));
    }

    @Test
    void whatIsPublishedBeforeTheNameIsFreeIsReadAfterwards() throws IOException {
        Path usual = Files.createDirectory(folder.path());
        try (CountersFile early = publish(OWN, 1)) {
            Files.delete(usual);
            Files.createDirectory(
                    usual, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            try (CountersFile late = publish(OWN, 2)) {
                assertThat(late.path().getParent()).isNotEqualTo(early.path().getParent());
                assertThat(PublishedCounters.read(base).processes()).hasSize(2);
            }
        }
    }

    /// The content changes its length at each publication.
    @Test
    void aReaderNeverSeesHalfAPublication() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (CountersFile file = publish(OWN, 1)) {
            Thread writer = Thread.ofPlatform().start(() -> {
                for (int round = 0; !stop.get(); round++) {
                    try {
                        file.write(CountersEncoder.encode(Records.process(OWN, Records.records(round % 50))));
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                }
            });
            try {
                int whole = 0;
                for (int i = 0; i < 2000; i++) {
                    for (PublishedProcess process : PublishedCounters.read(base).processes()) {
                        assertThat(process.channels())
                                .isEqualTo(Records.records(process.channels().size()));
                        whole++;
                    }
                }
                assertThat(whole).isPositive();
            } finally {
                stop.set(true);
                writer.join();
            }
        }
    }
}
