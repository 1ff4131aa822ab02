package io.rdmacomm.ibverbs.objects;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HugePagesTest {
    private static final long MEBI = 1 << 20;

    @TempDir
    Path folder;

    private HugePages read(String text) throws IOException {
        return HugePages.read(Files.writeString(folder.resolve("meminfo"), text));
    }

    @Test
    void roundsUpToWholePages() throws IOException {
        HugePages pages = read("""
                MemTotal:        8021160 kB
                HugePages_Total:       6
                HugePages_Free:        5
                HugePages_Rsvd:        3
                HugePages_Surp:        0
                Hugepagesize:       2048 kB
                """);
        assertThat(pages).isEqualTo(new HugePages(2 * MEBI, 6, 2));
        assertThat(pages.wholePages(1)).isEqualTo(2 * MEBI);
        assertThat(pages.wholePages(2 * MEBI)).isEqualTo(2 * MEBI);
        assertThat(pages.wholePages(2 * MEBI + 1)).isEqualTo(4 * MEBI);
        assertThat(pages.wholePages(Long.MAX_VALUE)).isZero();
        assertThat(pages.shortage(8 * MEBI - 1))
                .contains("need 4 huge pages of 2048 KiB, and 2 are free")
                .contains("`sysctl vm.nr_hugepages=8`");
    }

    @Test
    void aKernelWithoutHugePagesSaysSo() throws IOException {
        HugePages none = read("MemTotal:        8021160 kB\n");
        assertThat(none.wholePages(1)).isZero();
        assertThat(none.shortage(1)).contains("no huge pages", "PageSize.NORMAL");
        assertThat(HugePages.read(folder.resolve("nothing"))).isEqualTo(none);
    }
}
