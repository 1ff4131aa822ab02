package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.soft.LeftOut;
import io.rdmacomm.soft.OtherJvm;
import io.rdmacomm.verbs.service.UserFolders;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ShmDirectoryTest {
    private static final String DIRECTORY = "rdmacomm.soft.directory";

    @Test
    void leavesNothingBehind() throws IOException {
        Path folder;
        try (ShmDirectory directory = ShmDirectory.claim()) {
            folder = ShmDirectory.folder(directory.lid());
            assertThat(folder).isDirectory();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                    .isEqualTo("rwx------");
            Files.writeString(directory.file("region-1"), "data");
        }
        assertThat(folder).doesNotExist();
    }

    @Test
    void leavesTheFoldersOfTheLivingAlone() throws IOException {
        try (ShmDirectory first = ShmDirectory.claim();
                ShmDirectory second = ShmDirectory.claim()) {
            assertThat(second.lid()).isNotEqualTo(first.lid());
            assertThat(first.file("lock")).exists();
        }
    }

    /// Even opening and closing the lock file would release the lock, so that others took this process for
    /// dead.
    @Test
    void keepsItsLockWhenItIsReachedByAnotherName(@TempDir Path base) throws Exception {
        Path folder = Files.createDirectory(base.resolve("folder"));
        Path link = Files.createSymbolicLink(base.resolve("link"), folder);
        in(folder, () -> {
            try (ShmDirectory first = ShmDirectory.claim()) {
                in(link, () -> ShmDirectory.claim().close());
                in(
                        folder.resolve("..").resolve("folder"),
                        () -> ShmDirectory.claim().close());
                claimAndCloseInAnotherProcess(folder);
                assertThat(first.file("lock")).exists();
            }
        });
    }

    @Test
    void keepsItsLockWhenAnotherClassLoaderHasItsOwnCopy(@TempDir Path folder) throws Exception {
        in(folder, () -> {
            try (ShmDirectory first = ShmDirectory.claim()) {
                URL[] classes = {placeOf(ShmDirectory.class), placeOf(UserFolders.class)};
                try (URLClassLoader other = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
                    Class<?> copy = other.loadClass(ShmDirectory.class.getName());
                    assertThat(copy).isNotSameAs(ShmDirectory.class);
                    ((AutoCloseable) copy.getMethod("claim").invoke(null)).close();
                }
                claimAndCloseInAnotherProcess(folder);
                assertThat(first.file("lock")).exists();
            }
        });
    }

    private static URL placeOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void in(Path directory, Action action) throws Exception {
        String before = System.setProperty(DIRECTORY, directory.toString());
        try {
            action.run();
        } finally {
            if (before == null) {
                System.clearProperty(DIRECTORY);
            } else {
                System.setProperty(DIRECTORY, before);
            }
        }
    }

    private static void claimAndCloseInAnotherProcess(Path directory) throws Exception {
        Process other = OtherJvm.running(Claimer.class, "-D" + DIRECTORY + "=" + directory)
                .start();
        try {
            other.outputWriter().close();
            assertThat(other.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(other.exitValue()).isZero();
        } finally {
            other.destroyForcibly();
        }
    }

    @Test
    void leavesTheFolderOfAnotherLivingProcessAlone() throws Exception {
        Process other = claimInAnotherProcess();
        try {
            int lid = Integer.parseInt(other.inputReader().readLine());
            for (int i = 0; i < 3; i++) {
                ShmDirectory.claim().close();
            }
            assertThat(ShmDirectory.folder(lid)).isDirectory();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void removesTheFolderOfAKilledProcess() throws Exception {
        Process other = claimInAnotherProcess();
        int lid = Integer.parseInt(other.inputReader().readLine());
        Path folder = ShmDirectory.folder(lid);
        assertThat(folder).isDirectory();
        other.destroyForcibly();
        assertThat(other.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(ShmDirectory.isGone(lid)).isTrue();
        ShmDirectory.claim().close();
        assertThat(folder).doesNotExist();
    }

    /// As if the clock of the machine had jumped, which the time of a file follows.
    @Test
    void leavesAFolderThatIsBeingMadeAloneWhateverTheClockSays(@TempDir Path base) throws Exception {
        in(base, () -> {
            try (ShmDirectory directory = ShmDirectory.claim()) {
                Path root = directory.file("lock").getParent().getParent();
                Path fresh = hidden(root, 0);
                Path old = hidden(root, TimeUnit.MINUTES.toNanos(2));
                Path withoutLock = Files.createDirectory(root.resolve("1"));
                Files.setLastModifiedTime(fresh, FileTime.fromMillis(System.currentTimeMillis() - 7_200_000));
                ShmDirectory.claim().close();
                assertThat(fresh).isDirectory();
                assertThat(old).doesNotExist();
                assertThat(withoutLock).doesNotExist();
                Files.delete(fresh);
            }
        });
    }

    /// What may have the name of a file.
    enum Thing {
        PIPE,
        LINK_TO_A_PIPE,
        SOCKET,
        FOLDER,
        DANGLING_LINK;

        void make(Path name, Path elsewhere) throws Exception {
            switch (this) {
                case PIPE -> makePipe(name);
                case LINK_TO_A_PIPE -> {
                    makePipe(elsewhere.resolve("pipe"));
                    Files.createSymbolicLink(name, elsewhere.resolve("pipe"));
                }
                case SOCKET ->
                    ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                            .bind(UnixDomainSocketAddress.of(name))
                            .close();
                case FOLDER -> Files.createDirectories(name.resolve("more"));
                case DANGLING_LINK -> Files.createSymbolicLink(name, elsewhere.resolve("nothing"));
            }
        }

        private static void makePipe(Path name) throws Exception {
            assertThat(new ProcessBuilder("mkfifo", name.toString()).start().waitFor())
                    .isZero();
        }
    }

    /// Only programs of this user can make it. Opening a pipe would wait forever.
    @ParameterizedTest
    @EnumSource(Thing.class)
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aLockOrAControlFileThatIsNoFileHoldsNobodyUp(Thing thing, @TempDir Path base, @TempDir Path elsewhere)
            throws Exception {
        in(base, () -> {
            try (ShmDirectory first = ShmDirectory.claim()) {
                Path folder =
                        Files.createDirectory(first.file("lock").getParent().resolveSibling("5"));
                thing.make(folder.resolve("lock"), elsewhere);
                thing.make(folder.resolve(ControlFile.NAME), Files.createDirectory(elsewhere.resolve("control")));
                try (ShmDirectory second = ShmDirectory.claim()) {
                    assertThat(second.lid()).isNotEqualTo(first.lid());
                }
                assertThat(ShmDirectory.isGone(5)).isFalse();
                assertThatThrownBy(() -> MappedFile.open(folder.resolve(ControlFile.NAME))
                                .close())
                        .isInstanceOf(IOException.class);
                assertThat(first.file("lock")).exists();
            }
        });
    }

    private static Path hidden(Path root, long age) throws IOException {
        return Files.createDirectory(root.resolve("new-" + Long.toHexString(System.nanoTime() - age) + "-1"));
    }

    /// What may have the usual name of the root before its user comes.
    enum Squatter {
        OPEN_FOLDER,
        LINK_TO_A_FOLDER,
        DANGLING_LINK,
        FILE,
        FOLDER_OF_SOMEBODY_ELSE;

        void take(Path name, Path elsewhere) throws IOException {
            switch (this) {
                case OPEN_FOLDER -> Files.createDirectory(name);
                case LINK_TO_A_FOLDER -> Files.createSymbolicLink(name, elsewhere);
                case DANGLING_LINK -> Files.createSymbolicLink(name, elsewhere.resolve("nothing"));
                case FILE -> Files.createFile(name);
                case FOLDER_OF_SOMEBODY_ELSE -> {
                    Files.createDirectory(name);
                    Files.setPosixFilePermissions(name, PosixFilePermissions.fromString("rwx------"));
                    Files.setAttribute(name, "unix:uid", 4001);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Squatter.class)
    void aNameThatIsTakenLocksNobodyOut(Squatter squatter, @TempDir Path base, @TempDir Path elsewhere)
            throws Exception {
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        if (squatter == Squatter.FOLDER_OF_SOMEBODY_ELSE && !user.equals(0)) {
            throw LeftOut.because(ShmDirectoryTest.class, "only root can make a folder of somebody else");
        }
        Path name = base.resolve("rdmacomm-" + user);
        in(base, () -> {
            squatter.take(name, elsewhere);
            Process other = OtherJvm.running(Claimer.class, "-D" + DIRECTORY + "=" + base)
                    .start();
            try {
                int lid = Integer.parseInt(other.inputReader().readLine());
                assertThat(ShmDirectory.folder(lid)).isDirectory();
                assertThat(ShmDirectory.folder(lid).getParent()).isNotEqualTo(name);
                Files.delete(name);
                // Now a root of the usual name could be made, in which peers would not look for each other.
                try (ShmDirectory own = ShmDirectory.claim()) {
                    assertThat(own.lid()).isNotEqualTo(lid);
                    assertThat(ShmDirectory.folder(lid)).isDirectory();
                    assertThat(ShmDirectory.folder(own.lid())).isDirectory();
                    assertThat(ShmDirectory.isGone(lid)).isFalse();
                }
            } finally {
                other.outputWriter().close();
                other.waitFor();
            }
            assertThat(base).isEmptyDirectory();
            assertThat(elsewhere).isEmptyDirectory();
        });
    }

    /// Two roots of one user: the first was made while another user had the usual name.
    @Test
    void contextsInTwoRootsFindEachOtherAndHaveDifferentLids(@TempDir Path base) throws Exception {
        Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Path first = base.resolve("rdmacomm-" + user + "-0badcafe");
        in(base, () -> {
            Files.createDirectory(
                    first, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            // Without that, it would be removed.
            Path something = Files.createFile(first.resolve("something"));
            try (ShmDirectory inFirst = ShmDirectory.claim()) {
                assertThat(inFirst.file("lock")).hasParent(first.toRealPath().resolve(Integer.toString(inFirst.lid())));
                Path usual = Files.createDirectory(
                        base.resolve("rdmacomm-" + user),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
                Path more = Files.createFile(usual.resolve("something"));
                try (ShmDirectory inUsual = ShmDirectory.claim()) {
                    assertThat(ShmDirectory.folder(inUsual.lid())).hasParent(usual.toRealPath());
                    assertThat(ShmDirectory.folder(inFirst.lid())).hasParent(first.toRealPath());
                    assertThat(inUsual.lid()).isNotEqualTo(inFirst.lid());
                    Files.delete(something);
                    Files.delete(more);
                }
            }
            assertThat(base).isEmptyDirectory();
        });
    }

    /// A program that starts another one often passes its own settings on.
    @Test
    void aChildWithAllPropertiesOfThisProcessOwnsNothingOfIt(@TempDir Path base) throws Exception {
        in(base, () -> {
            try (ShmDirectory first = ShmDirectory.claim();
                    ShmDirectory second = ShmDirectory.claim()) {
                List<String> options = System.getProperties().stringPropertyNames().stream()
                        .filter(name -> name.startsWith("rdmacomm."))
                        .map(name -> "-D" + name + "=" + System.getProperty(name))
                        .toList();
                assertThat(System.getProperties().values())
                        .noneMatch(value ->
                                value.toString().contains(first.file("").toString()));
                Process child = OtherJvm.running(Claimer.class, options.toArray(String[]::new))
                        .start();
                child.outputWriter().close();
                assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
                assertThat(child.exitValue()).isZero();
                assertThat(first.file("lock")).exists();
                assertThat(second.file("lock")).exists();
            }
        });
    }

    /// The last to leave removes the root, at any moment of another's coming.
    @Test
    void comesWhileTheLastOneLeaves(@TempDir Path base) throws Exception {
        in(base, () -> {
            List<FutureTask<Void>> users = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                FutureTask<Void> user = new FutureTask<>(() -> {
                    for (int round = 0; round < 500; round++) {
                        ShmDirectory.claim().close();
                    }
                    return null;
                });
                users.add(user);
                Thread.ofPlatform().daemon().start(user);
            }
            for (FutureTask<Void> user : users) {
                user.get(60, TimeUnit.SECONDS);
            }
            assertThat(base).isEmptyDirectory();
        });
    }

    private static Process claimInAnotherProcess() throws IOException {
        return OtherJvm.running(Claimer.class).start();
    }

    /// Claims a folder, prints its LID and waits to be killed.
    static final class Claimer {
        public static void main(String[] arguments) throws IOException {
            try (ShmDirectory directory = ShmDirectory.claim()) {
                System.out.println(directory.lid());
                int ignored = System.in.read();
                System.out.println(ignored);
            }
        }
    }
}
