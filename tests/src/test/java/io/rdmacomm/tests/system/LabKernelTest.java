package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The kernel that `lab/kernel` chooses from an archive, which an `apt-cache` of the test describes.
final class LabKernelTest {
    private static final Path SCRIPT = Path.of("..", "lab", "kernel");
    private static final String ARCHIVE = "http://deb.example.org/debian bookworm/main amd64 Packages";
    private static final String SOURCES = "http://deb.example.org/debian bookworm/main Sources";

    @TempDir
    private Path folder;

    private final List<String> offers = new ArrayList<>();

    @BeforeEach
    void makeAptCache() throws IOException {
        Path program = Files.writeString(folder.resolve("apt-cache"), """
                #!/bin/sh
                cd "$(dirname "$0")" || exit
                command=$1
                shift
                case $command in
                    depends) [ ! -s metapackage ] || printf 'linux-image-amd64\\n  Depends: %s\\n' "$(cat metapackage)" ;;
                    pkgnames) sed 's/ .*//' offers | sort -u | grep "^$1" ;;
                    madison) for name in "$@"; do grep "^$name " offers | sed 's/^/  /'; done ;;
                    *) exit 1 ;;
                esac
                """);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(folder.resolve("metapackage"), "linux-image-6.1.0-56-amd64");
        offers.add("linux-image-6.12-amd64 | 6.12.1-1 | " + ARCHIVE);
        offers.add("linux-image-6.1.0-56-amd64-dbg | 6.1.192-2 | " + ARCHIVE);
        offers.add("linux-image-6.1.0-56-rt-amd64 | 6.1.192-2 | " + ARCHIVE);
    }

    private void offer(String name, String version) {
        offers.add(name + " | " + version + " | " + ARCHIVE);
    }

    private void offerImageAndHeaders(String release, String version) {
        offer("linux-image-" + release + "-amd64", version);
        offer("linux-headers-" + release + "-amd64", version);
        offer("linux-headers-" + release + "-common", version);
    }

    private static List<String> kernel(String release, String version, String kbuild) {
        return List.of(
                "linux-image-" + release + "-amd64=" + version,
                "linux-headers-" + release + "-amd64=" + version,
                "linux-headers-" + release + "-common=" + version,
                "linux-source-6.1=" + version,
                "linux-kbuild-6.1=" + kbuild);
    }

    private List<String> choose(int status) throws Exception {
        Files.write(folder.resolve("offers"), offers);
        ProcessBuilder builder = new ProcessBuilder("bash", SCRIPT.toString()).redirectErrorStream(true);
        builder.environment().merge("PATH", folder + ":", (path, own) -> own + path);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(status);
        return output.lines().toList();
    }

    @Test
    void aNewerKbuildServesTheNewestImage() throws Exception {
        offerImageAndHeaders("6.1.0-56", "6.1.192-2");
        offerImageAndHeaders("6.1.0-9", "6.1.70-1");
        for (String version : List.of("6.1.70-1", "6.1.192-2", "6.1.192-3")) {
            offer("linux-source-6.1", version);
        }
        offer("linux-kbuild-6.1", "6.1.70-1");
        offer("linux-kbuild-6.1", "6.1.192-3");

        assertThat(choose(0)).isEqualTo(kernel("6.1.0-56", "6.1.192-2", "6.1.192-3"));
    }

    @Test
    void anOlderKbuildDoesNotServeANewerImage() throws Exception {
        offerImageAndHeaders("6.1.0-56", "6.1.192-2");
        offerImageAndHeaders("6.1.0-9", "6.1.70-1");
        offer("linux-source-6.1", "6.1.192-2");
        offer("linux-source-6.1", "6.1.70-1");
        offer("linux-kbuild-6.1", "6.1.70-1");

        assertThat(choose(0)).isEqualTo(kernel("6.1.0-9", "6.1.70-1", "6.1.70-1"));
    }

    @Test
    void aKernelWithoutItsSourceOrItsHeadersIsPassedOver() throws Exception {
        offerImageAndHeaders("6.1.0-56", "6.1.192-2");
        offer("linux-image-6.1.0-55-amd64", "6.1.192-1");
        offer("linux-headers-6.1.0-55-amd64", "6.1.192-1");
        offer("linux-headers-6.1.0-55-common", "6.1.191-1");
        offerImageAndHeaders("6.1.0-54", "6.1.190-1");
        offers.add("linux-source-6.1 | 6.1.192-2 | " + SOURCES);
        offer("linux-source-6.1", "6.1.192-1");
        offer("linux-source-6.1", "6.1.190-1");
        offer("linux-kbuild-6.1", "6.1.192-2");

        assertThat(choose(0)).isEqualTo(kernel("6.1.0-54", "6.1.190-1", "6.1.192-2"));
    }

    @Test
    void theNewestVersionOfAReleaseIsTaken() throws Exception {
        offerImageAndHeaders("6.1.0-50", "6.1.9-1");
        offerImageAndHeaders("6.1.0-50", "6.1.176-1");
        offer("linux-source-6.1", "6.1.9-1");
        offer("linux-source-6.1", "6.1.176-1");
        offer("linux-kbuild-6.1", "6.1.176-1");

        assertThat(choose(0)).isEqualTo(kernel("6.1.0-50", "6.1.176-1", "6.1.176-1"));
    }

    @Test
    void anArchiveWithoutACompleteKernelIsNamedInOneLine() throws Exception {
        offerImageAndHeaders("6.1.0-56", "6.1.192-2");
        offer("linux-source-6.1", "6.1.192-2");
        assertThat(choose(1)).containsExactly("apt offers no kernel 6.1 with image, headers, linux-kbuild and source");

        Files.writeString(folder.resolve("metapackage"), "");
        assertThat(choose(1)).containsExactly("apt offers no linux-image-amd64");
    }
}
