package io.rdmacomm.tests.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The program of `./check --soak`, for a short time, and the parts that must notice what is wrong.
class SoakProgramTest {
    @TempDir
    private Path directory;

    @Test
    @Tag("slow")
    @Tag("long")
    @Timeout(300)
    void aShortRunFindsNothingWrong() throws Exception {
        assertThat(SoakMain.run("0.25", "--rate", "4000", "--workers", "3", "--out", directory.toString()))
                .isZero();

        assertThat(Files.readString(directory.resolve("soak.md"))).contains("violations: {}");
        assertThat(Files.readString(directory.resolve("soak.json"))).contains("\"violations\": {}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0", "1 2", "1 --seed", "1 --rate x", "1 --workers 1", "1 --no-far --far-only", "--bad"})
    void wrongArgumentsEndWithTwo(String line) throws Exception {
        PrintStream errors = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            assertThat(SoakMain.run(line.isEmpty() ? new String[0] : line.split(" ", -1)))
                    .isEqualTo(2);
        } finally {
            System.setErr(errors);
        }
        assertThat(said.toString(StandardCharsets.UTF_8)).contains("see --help");
    }

    @Test
    void everyWrongByteIsFound() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(43);
            Content.fill(memory, 0, 43, 7, 0);
            assertThat(Content.wrong(memory, 0, 43, 7, 0)).isEqualTo(-1);
            for (int at = 0; at < 43; at++) {
                byte right = memory.get(ValueLayout.JAVA_BYTE, at);
                memory.set(ValueLayout.JAVA_BYTE, at, (byte) (right + 1));
                assertThat(Content.wrong(memory, 0, 43, 7, 0)).isEqualTo(at);
                memory.set(ValueLayout.JAVA_BYTE, at, right);
            }
        }
    }

    @Test
    void aRequestThatEndsTwiceOrNotAtAllIsFound() {
        SendLedger ledger = new SendLedger(8, (id, success) -> {});
        for (long id = 1; id <= 4; id++) {
            ledger.posted(id, id != 2);
        }
        assertThat(ledger.completed(1, true)).isNull();
        assertThat(ledger.completed(1, true)).startsWith("doubled");
        assertThat(ledger.completed(4, true)).startsWith("lost: request 3");
        assertThat(ledger.isEmpty()).isTrue();
    }

    @Test
    void aReceiveThatEndsTwiceOrOutOfOrderIsFound() {
        ReceiveLedger ledger = new ReceiveLedger(2);
        long first = ledger.post(0);
        long second = ledger.post(1);
        assertThat(ledger.completed(second, true)).isNull();
        assertThat(ledger.completed(second, true)).startsWith("doubled");
        assertThat(ledger.completed(first, true)).startsWith("wrong");
        assertThat(ledger.outstanding()).isZero();
    }

    @Test
    void whatRisesIsTellableFromNoise() {
        Series rising = new Series();
        Series level = new Series();
        for (int i = 0; i < 100; i++) {
            rising.add(i * 36, i + i % 5);
            level.add(i * 36, i % 5);
        }
        assertThat(rising.slope().rises(1, 4)).isTrue();
        assertThat(level.slope().rises(1, 4)).isFalse();
    }
}
