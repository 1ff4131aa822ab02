package io.rdmacomm.verbs.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlGroupsTest {
    @TempDir
    Path folder;

    private String mount(String root, Path at, String type, String options) {
        return "31 23 0:28 " + root + " " + at.toString().replace(" ", "\\040") + " rw,relatime shared:4 - " + type
                + " cgroup " + options;
    }

    private Path made(String path) throws IOException {
        return Files.createDirectories(folder.resolve(path));
    }

    @Test
    void theGroupAndThoseAboveItInVersion2() throws IOException {
        Path mount = made("cgroup");
        Path slice = made("cgroup/system.slice");
        Path own = made("cgroup/system.slice/a.service");
        assertThat(ControlGroups.of(
                        "memory",
                        List.of("0::/system.slice/a.service"),
                        List.of("22 1 0:20 / /proc rw - proc proc rw", mount("/", mount, "cgroup2", "rw"))))
                .containsExactly(own, slice, mount);
    }

    @Test
    void theHierarchyOfTheControllerInVersion1() throws IOException {
        Path memory = made("memory");
        Path own = made("memory/docker");
        Path processor = made("cpu,cpuacct/docker");
        assertThat(ControlGroups.of(
                        "memory",
                        List.of("5:cpu,cpuacct:/docker", "4:memory:/docker", "1:name=systemd:/", "0::/"),
                        List.of(
                                mount("/", processor.getParent(), "cgroup", "rw,cpu,cpuacct"),
                                mount("/", memory, "cgroup", "rw,memory"))))
                .containsExactly(own, memory);
    }

    /// A container without a namespace for control groups knows its path from the host, and sees only its own
    /// part.
    @Test
    void aPartOfTheHierarchy() throws IOException {
        Path mount = made("a b");
        Path inner = made("a b/inner");
        List<String> mounts = List.of(mount("/docker/1", mount, "cgroup2", "rw"));
        assertThat(ControlGroups.of("memory", List.of("0::/docker/1"), mounts)).containsExactly(mount);
        assertThat(ControlGroups.of("memory", List.of("0::/docker/1/inner"), mounts))
                .containsExactly(inner, mount);
        assertThat(ControlGroups.of("memory", List.of("0::/elsewhere"), mounts)).containsExactly(mount);
        assertThat(ControlGroups.of("memory", List.of("0::/../2"), List.of(mount("/", mount, "cgroup2", "rw"))))
                .containsExactly(mount);
    }

    @Test
    void linesThatCannotBeUnderstoodAreLeftOut() {
        assertThat(ControlGroups.of("memory", List.of("", "0", "0::/"), List.of("", "1 2 3", "1 2 3 / /x - cgroup2")))
                .isEmpty();
        assertThat(ControlGroups.of("memory", List.of(), List.of(mount("/", folder, "cgroup2", "rw"))))
                .isEmpty();
    }
}
