package io.rdmacomm.tests.fuzz;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs a target in Jazzer, which finds inputs that take new paths, and adds them to the corpus: `FuzzMain TARGET
/// SECONDS`, started by the profile `fuzz`. Ends with 1 if an input breaks the target; Jazzer prints it then.
final class FuzzMain {
    private static final String JAZZER = "com.code_intelligence.jazzer.Jazzer";
    /// Room for a frame that is read past the buffer.
    private static final int LONGEST = 12_000;
    /// Longer ones are found again, and would make the repository large.
    private static final int LONGEST_KEPT = 1000;
    private static final String KNOWN = "known-";

    private FuzzMain() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String target = arguments[0];
        Corpus corpus = new Corpus(target);
        Path all = Files.createTempDirectory("fuzz-" + target);
        int number = 0;
        for (byte[] input : corpus.inputs()) {
            Files.write(all.resolve(KNOWN + number++), input);
        }
        int result = run(target, "-max_total_time=" + arguments[1], "-max_len=" + LONGEST, all.toString());
        corpus.write(read(all));
        if (result != 0) {
            throw new AssertionError("Jazzer ended with " + result + "; its inputs are in " + all);
        }
    }

    private static int run(String target, String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                JAZZER,
                "--target_class=" + FuzzMain.class.getPackageName() + "." + target,
                "--instrumentation_includes=io.rdmacomm.**"));
        command.addAll(List.of(options));
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    private static List<byte[]> read(Path folder) throws IOException {
        List<byte[]> inputs = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (file.toString().contains(KNOWN) || Files.size(file) <= LONGEST_KEPT) {
                    inputs.add(Files.readAllBytes(file));
                }
            }
        }
        return inputs;
    }
}
