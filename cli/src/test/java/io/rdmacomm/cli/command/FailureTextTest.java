package io.rdmacomm.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FailureTextTest {
    @Test
    void aFailureIsOneLine() {
        assertThat(FailureText.of(new CommandFailure("first\n  second\r\nthird")))
                .isEqualTo("first; second; third");
    }

    @Test
    void aFailureWithoutMessageHasTheNameOfItsClass() {
        assertThat(FailureText.of(new IOException())).isEqualTo("IOException");
        assertThat(FailureText.of(new IllegalStateException("broken"))).isEqualTo("IllegalStateException: broken");
    }

    @Test
    void theNameOfAFileIsPrintedOnce() {
        assertThat(FailureText.of(new NoSuchFileException("a"))).isEqualTo("a: no such file");
        assertThat(FailureText.ofFile(new NoSuchFileException("a"))).isEqualTo("no such file");
        assertThat(FailureText.ofFile(new AccessDeniedException("a"))).isEqualTo("permission denied");
        assertThat(FailureText.ofFile(new FileSystemException("a", "b", "too many links")))
                .isEqualTo("too many links");
    }

    @Test
    void aFullDiskIsExplained() {
        assertThat(FailureText.ofFile(new IOException("No space left on device")))
                .startsWith("no space left");
    }
}
