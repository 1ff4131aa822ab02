package io.rdmacomm.cli;

import io.rdmacomm.cli.command.FileName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The arguments exactly as given. The launcher of the JDK decodes them with the encoding of the locale, which
/// loses characters outside of it; the kernel still has their bytes.
final class ExactArguments {
    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private ExactArguments() {}

    /// The arguments, decoded by [FileName#decode]; `decoded` if the kernel reports different ones.
    ///
    /// @param decoded the arguments of `main`
    static String[] of(String... decoded) {
        try {
            List<String> words = words(Files.readAllBytes(COMMAND_LINE));
            int before = words.size() - decoded.length;
            if (before < 1) {
                return decoded;
            }
            String[] exact = words.subList(before, words.size()).toArray(String[]::new);
            for (int i = 0; i < exact.length; i++) {
                if (isAscii(exact[i]) && !exact[i].equals(decoded[i])) {
                    return decoded;
                }
            }
            return exact;
        } catch (IOException _) {
            return decoded;
        }
    }

    /// Each word ends with a NUL.
    private static List<String> words(byte[] line) {
        List<String> words = new ArrayList<>();
        int begin = 0;
        for (int i = 0; i < line.length; i++) {
            if (line[i] == 0) {
                words.add(FileName.decode(Arrays.copyOfRange(line, begin, i)));
                begin = i + 1;
            }
        }
        return words;
    }

    private static boolean isAscii(String text) {
        return text.chars().allMatch(character -> character < 0x80);
    }
}
