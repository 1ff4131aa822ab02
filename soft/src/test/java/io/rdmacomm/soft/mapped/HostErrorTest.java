package io.rdmacomm.soft.mapped;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.statistics.MemoryRoom;
import java.io.IOException;
import java.net.BindException;
import java.net.SocketException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostErrorTest {
    @ParameterizedTest
    @CsvSource({
        "Too many open files, EMFILE, ulimit -n",
        "Too many open files in system, ENFILE, fs.file-max",
        "No space left on device, ENOSPC, enlarge it",
        "Disk quota exceeded, ENOSPC, enlarge it",
        "Operation not permitted, EPERM, -Drdmacomm.soft.directory",
        "Read-only file system, EROFS, -Drdmacomm.soft.directory",
        "Cannot allocate memory, ENOMEM, vm.max_map_count",
        "Input/output error, EIO, ''"
    })
    void theAdviceFitsTheCause(String words, Errno errno, String advice) {
        for (IOException cause : new IOException[] {
            new FileSystemException("/dev/shm/x", null, words),
            new SocketException(words),
            new IOException("outside", new IOException(words))
        }) {
            HostError error = HostError.of(cause, Errno.ENOSPC);
            assertThat(error.errno()).isEqualTo(errno);
            assertThat(error.advice()).contains(advice);
            if (!advice.equals("enlarge it")) {
                assertThat(error.advice()).doesNotContain("enlarge");
            }
        }
    }

    @Test
    void rightsAndPortsHaveAdviceOfTheirOwn() {
        assertThat(HostError.of(new AccessDeniedException("/dev/shm/x"), Errno.ENOSPC)
                        .errno())
                .isEqualTo(Errno.EACCES);
        assertThat(HostError.of(new BindException("Address already in use"), Errno.ENOSPC)
                        .errno())
                .isEqualTo(Errno.EADDRINUSE);
    }

    @Test
    void aLimitOfMemoryNamesItsOwner() {
        for (String owner : new String[] {"the machine", "/sys/fs/cgroup/memory.max"}) {
            VerbException failure;
            try {
                RoomCheck.checkMemory(100, new MemoryRoom(99, owner));
                throw new AssertionError("there was room");
            } catch (IOException e) {
                failure = HostError.of(e, Errno.ENOMEM).failure("register", "no room", e);
            }
            assertThat(failure.errno()).isEqualTo(Errno.ENOMEM);
            assertThat(failure).hasMessageContaining("the 99 that " + owner + " has left");
            assertThat(failure.getMessage().contains("container")).isEqualTo(owner.startsWith("/"));
        }
    }
}
