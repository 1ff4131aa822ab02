package io.rdmacomm.comm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SecretTest {
    private static final String WORDS = "0123456789abcdef";

    @TempDir
    private Path folder;

    private Path file(String content, String mode) throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private static boolean areEqual(Secret one, Secret other) {
        byte[] message = {1, 2, 3};
        return Arrays.equals(one.authenticate(message), other.authenticate(message));
    }

    /// Test case 1 of RFC 4231.
    @Test
    void theCodeIsHmacSha256() {
        byte[] key = new byte[20];
        Arrays.fill(key, (byte) 0x0b);

        assertThat(HexFormat.of().formatHex(Secret.of(key).authenticate("Hi There".getBytes(UTF_8))))
                .isEqualTo("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }

    @ParameterizedTest
    @ValueSource(strings = {WORDS, WORDS + "\n", WORDS + "\r\n"})
    void aNewlineAtTheEndOfTheFileDoesNotCount(String content) throws IOException {
        assertThat(areEqual(Secret.read(file(content, "rw-------")), Secret.of(WORDS.getBytes(UTF_8))))
                .isTrue();
    }

    @Test
    void onlyOneNewlineIsTakenOff() throws IOException {
        assertThat(areEqual(Secret.read(file(WORDS + "\n\n", "r--------")), Secret.of((WORDS + "\n").getBytes(UTF_8))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw--w----", "rw----r--", "rw------x", "rw-rw-rw-"})
    void aFileThatOthersMayOpenIsRefused(String mode) throws IOException {
        Path open = file(WORDS, mode);

        assertThatThrownBy(() -> Secret.read(open))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("secret file " + open + " is accessible to other users: chmod 600 " + open);
    }

    @Test
    void aShortSecretIsRefused() throws IOException {
        Path file = file("0123456789abcde\n", "rw-------");

        assertThatThrownBy(() -> Secret.read(file)).hasMessageContaining(file + " has 15 bytes, must have 16 to 4096");
        assertThatThrownBy(() -> Secret.of(new byte[15])).hasMessageContaining("the secret has 15 bytes");
        assertThatThrownBy(() -> Secret.of(new byte[4097])).hasMessageContaining("more than 4096 bytes");
    }

    @Test
    void aFileThatIsNotThereOrNeverEndsIsRefused() throws IOException {
        assertThatThrownBy(() -> Secret.read(folder.resolve("none")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("none cannot be read");
        Path endless = file("x".repeat(100_000), "rw-------");
        assertThatThrownBy(() -> Secret.read(endless)).hasMessageContaining("more than 4096 bytes");
    }

    @Test
    void itsBytesAreCopiedAndNotShown() {
        byte[] bytes = WORDS.getBytes(UTF_8);
        Secret secret = Secret.of(bytes);
        bytes[0] = 'x';

        assertThat(areEqual(secret, Secret.of(WORDS.getBytes(UTF_8)))).isTrue();
        assertThat(secret).hasToString("a secret");
    }
}
