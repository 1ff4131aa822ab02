package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A process in a control group with less memory than the machine has: it is refused more, and not killed.
/// Needs root and a machine that has the memory controller.
@Timeout(120)
class ContainerMemoryTest {
    private static final long MIB = 1 << 20;

    private Path group;
    private Path inner;

    @BeforeEach
    void make() throws IOException {
        for (Path hierarchy : List.of(Path.of("/sys/fs/cgroup/memory"), Path.of("/sys/fs/cgroup"))) {
            Path made =
                    hierarchy.resolve("rdmacomm-test-" + ProcessHandle.current().pid());
            if (Files.isWritable(hierarchy) && Files.exists(hierarchy.resolve("cgroup.procs"))) {
                Files.createDirectory(made);
                for (String limit : List.of("memory.limit_in_bytes", "memory.max")) {
                    if (Files.exists(made.resolve(limit))) {
                        Files.writeString(made.resolve(limit), "" + 300 * MIB);
                        group = made;
                        inner = Files.createDirectory(made.resolve("inner"));
                        return;
                    }
                }
                Files.delete(made);
            }
        }
        throw LeftOut.because(ContainerMemoryTest.class, "no control group with a limit of memory can be made");
    }

    @AfterEach
    void remove() throws IOException {
        if (group != null) {
            Files.delete(inner);
            Files.delete(group);
        }
    }

    @Test
    void aRequestForMoreThanTheGroupHasIsRefused() throws Exception {
        assertThat(allocateIn(group)).contains("failed: ENOMEM", group.toString(), "memory limit of this container");
    }

    @Test
    void theLimitOfAGroupAboveCounts() throws Exception {
        assertThat(allocateIn(inner)).contains("failed: ENOMEM", group.toString(), "memory limit of this container");
    }

    private static String allocateIn(Path where) throws Exception {
        ProcessBuilder program = OtherJvm.running(Program.class, "-Xmx48m", "-XX:+UseSerialGC");
        program.command()
                .addAll(0, List.of("bash", "-c", "echo $$ > " + where + "/cgroup.procs && exec \"$@\"", "bash"));
        Process process = program.start();
        try {
            String answer = process.inputReader().readLine();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return answer;
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    /// Allocates what the machine has, and 32 MiB, for which the group has room afterwards as well.
    static final class Program {
        public static void main(String[] arguments) {
            Device device = Soft.device("soft0=127.0.0.1");
            String answer = "it was granted";
            try (Context context = device.open();
                    ProtectionDomain domain = context.allocateProtectionDomain()) {
                try (MemoryRegion large = domain.allocate(600 * MIB, EnumSet.of(AccessFlag.LOCAL_WRITE))) {
                    answer += " " + large;
                } catch (VerbException e) {
                    answer = e.getMessage();
                }
                domain.allocate(32 * MIB, EnumSet.of(AccessFlag.LOCAL_WRITE)).close();
            }
            System.out.println(answer);
        }
    }
}
