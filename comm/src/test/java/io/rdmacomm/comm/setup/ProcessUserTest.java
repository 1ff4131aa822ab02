package io.rdmacomm.comm.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ProcessUserTest {
    private static final long ROOT = 0;

    @Test
    void theEffectiveNumbersCount() throws IOException {
        List<String> status = List.of(
                "Name:\tjava", "Uid:\t1\t1000\t3\t4", "Gid:\t5\t2000\t7\t8", "FDSize:\t64", "Groups:\t30 4294967294 ");

        assertThat(ProcessUser.parse(status)).isEqualTo(new ProcessUser(1000, Set.of(30L, 2000L, 4294967294L)));
    }

    @Test
    void aProcessMayHaveNoOtherGroups() throws IOException {
        List<String> status = List.of("Uid:\t0\t0\t0\t0", "Gid:\t0\t0\t0\t0", "Groups:\t ");

        assertThat(ProcessUser.parse(status)).isEqualTo(new ProcessUser(ROOT, Set.of(0L)));
    }

    @Test
    void aFileWithoutThemIsRefused() {
        assertThatThrownBy(() -> ProcessUser.parse(List.of("Name:\tjava"))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> ProcessUser.parse(List.of("Uid:\tx\ty", "Gid:\t1\t1", "Groups:")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void onlyAnotherUserOfTheGroupNeedsIt() {
        ProcessUser user = new ProcessUser(1000, Set.of(1000L, 2000L));

        assertThat(user.needsGroup(ROOT, 2000)).isTrue();
        assertThat(user.needsGroup(1001, 1000)).isTrue();
        assertThat(user.needsGroup(ROOT, 2001)).as("another group").isFalse();
        assertThat(user.needsGroup(1000, 2000)).as("its own file").isFalse();
        assertThat(new ProcessUser(ROOT, Set.of(0L, 2000L)).needsGroup(1000, 2000))
                .as("root")
                .isFalse();
    }
}
