package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.OtherJvm;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /// Even opening and closing the lock file would release the lock, so that others took this process for dead.
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
                URL classes =
                        ShmDirectory.class.getProtectionDomain().getCodeSource().getLocation();
                try (URLClassLoader other =
                        new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
                    Class<?> copy = other.loadClass(ShmDirectory.class.getName());
                    assertThat(copy).isNotSameAs(ShmDirectory.class);
                    ((AutoCloseable) copy.getMethod("claim").invoke(null)).close();
                }
                claimAndCloseInAnotherProcess(folder);
                assertThat(first.file("lock")).exists();
            }
        });
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
        assertThat(ShmDirectory.folder(lid)).isDirectory();
        other.destroyForcibly();
        assertThat(other.waitFor(10, TimeUnit.SECONDS)).isTrue();
        ShmDirectory.claim().close();
        assertThat(ShmDirectory.folder(lid)).doesNotExist();
    }

    @Test
    void leavesANewFolderAlone() throws IOException {
        try (ShmDirectory directory = ShmDirectory.claim()) {
            Path half = ShmDirectory.folder(directory.lid()).resolveSibling("1");
            Files.createDirectory(half);
            try {
                ShmDirectory.claim().close();
                assertThat(half).isDirectory();
                Files.setLastModifiedTime(half, FileTime.fromMillis(System.currentTimeMillis() - 120_000));
                ShmDirectory.claim().close();
                assertThat(half).doesNotExist();
            } finally {
                Files.deleteIfExists(half);
            }
        }
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
            assertThat(ShmDirectory.root()).doesNotExist();
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
