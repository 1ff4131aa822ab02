package io.rdmacomm.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import picocli.CommandLine.ITypeConverter;

/// File names as text. To the kernel they are bytes. The JDK decodes them with the encoding of the locale, which
/// loses all but ASCII where there is no locale, as in containers. This class decodes them as UTF-8 in any locale.
/// A byte that is not valid UTF-8 becomes a lone surrogate, U+DC00 plus the byte, so that nothing is lost.
///
/// It converts between paths and bytes with `file:` URIs, which the JDK takes byte for byte.
public final class FileName implements ITypeConverter<Path> {
    private static final int ESCAPE = 0xdc00;
    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    private static final Path WORKING_DIRECTORY = Path.of("/proc/self/cwd");

    /// For picocli.
    public FileName() {}

    @Override
    public Path convert(String text) {
        return path(text);
    }

    /// Decodes bytes.
    public static String decode(byte[] bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer from = ByteBuffer.wrap(bytes);
        CharBuffer into = CharBuffer.allocate(bytes.length);
        while (true) {
            CoderResult result = decoder.decode(from, into, true);
            if (!result.isError()) {
                return into.flip().toString();
            }
            for (int left = result.length(); left > 0; left--) {
                into.put((char) (ESCAPE + (from.get() & 0xff)));
            }
            decoder.reset();
        }
    }

    /// Encodes the result of [#decode], or any other text.
    public static byte[] encode(String text) {
        byte[] bytes = new byte[3 * text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            i += Character.charCount(point);
            if (point >= ESCAPE + 0x80 && point <= ESCAPE + 0xff) {
                bytes[length++] = (byte) point;
            } else {
                for (byte each : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
                    bytes[length++] = each;
                }
            }
        }
        return Arrays.copyOf(bytes, length);
    }

    /// Whether `text` is the same in every encoding.
    private static boolean isAscii(String text) {
        return text.chars().allMatch(character -> character < 0x80);
    }

    /// The path with that name. A relative path becomes absolute if the JDK cannot express it.
    public static Path path(String text) {
        boolean absolute = text.startsWith("/");
        if (isAscii(text) && (absolute || isAscii(System.getProperty("user.dir")))) {
            return Path.of(text);
        }
        return Path.of(URI.create("file://" + (absolute ? "" : workingDirectory() + "/") + escape(encode(text))));
    }

    /// The child of `folder` with that name, which must be one component.
    public static Path child(Path folder, String name) {
        return isAscii(name)
                ? folder.resolve(name)
                : folder.resolve(
                        Path.of(URI.create("file:///" + escape(encode(name)))).getFileName());
    }

    private static String workingDirectory() {
        try {
            String raw = Files.readSymbolicLink(WORKING_DIRECTORY).toUri().getRawPath();
            return raw.endsWith("/") ? raw.substring(0, raw.length() - 1) : raw;
        } catch (IOException e) {
            throw new UncheckedIOException("the working directory is unknown: " + e.getMessage(), e);
        }
    }

    /// The name of `path`: its bytes as text. A relative path must be one component.
    public static String of(Path path) {
        String text = path.toString();
        if (isAscii(text)) {
            return text;
        }
        String raw = path.toUri().getRawPath();
        if (raw.endsWith("/")) {
            raw = raw.substring(0, raw.length() - 1);
        }
        return decode(unescape(path.isAbsolute() ? raw : raw.substring(raw.lastIndexOf('/') + 1)));
    }

    /// Encodes bytes as ASCII: all but letters, digits and `/-._~` become `%` and two digits (RFC 3986).
    private static String escape(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (byte each : bytes) {
            char character = (char) (each & 0xff);
            if (character < 0x80 && (Character.isLetterOrDigit(character) || "/-._~".indexOf(character) >= 0)) {
                text.append(character);
            } else {
                HEX.toHexDigits(text.append('%'), each);
            }
        }
        return text.toString();
    }

    /// Reverses [#escape].
    private static byte[] unescape(String text) {
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); length++) {
            char character = text.charAt(i);
            bytes[length] = (byte) (character == '%' ? HexFormat.fromHexDigits(text, i + 1, i + 3) : character);
            i += character == '%' ? 3 : 1;
        }
        return Arrays.copyOf(bytes, length);
    }
}
