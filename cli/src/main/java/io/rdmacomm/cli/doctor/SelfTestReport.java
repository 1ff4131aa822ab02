package io.rdmacomm.cli.doctor;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.command.ResultFile;
import io.rdmacomm.cli.devices.DescriptionText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The two files of `rdmacomm doctor --report`.
final class SelfTestReport {
    private final Path text;
    private final Path json;

    /// @throws io.rdmacomm.cli.command.CommandFailure if the files cannot be written
    SelfTestReport(Path name) {
        this.text = FileName.path(FileName.of(name) + ".txt");
        this.json = FileName.path(FileName.of(name) + ".json");
        ResultFile.check(text);
        ResultFile.check(json);
    }

    /// The facts about the machine that the environment does not contain.
    static Map<String, Object> system(String device) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("os", operatingSystem());
        members.put("architecture", System.getProperty("os.arch"));
        members.put("libraries", NativeLibraries.loaded());
        members.put("kernel_device", KernelDevice.describe(device));
        return members;
    }

    /// Writes both files.
    ///
    /// @param lines what was printed
    /// @param document what `--json` writes
    void write(List<String> lines, Map<String, Object> document) throws IOException {
        StringWriter all = new StringWriter();
        PrintWriter out = new PrintWriter(all);
        lines.forEach(out::println);
        out.println();
        for (String part : List.of("environment", "system", "device")) {
            if (document.get(part) instanceof Map<?, ?> members) {
                DescriptionText.print(Map.of(part, members), out);
            }
        }
        out.flush();
        Files.writeString(text, all.toString(), StandardCharsets.UTF_8);
        String described = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(document);
        Files.writeString(json, described + System.lineSeparator(), StandardCharsets.UTF_8);
    }

    private static String operatingSystem() {
        try (Stream<String> lines = Files.lines(Path.of("/etc/os-release"))) {
            return lines.filter(line -> line.startsWith("PRETTY_NAME="))
                    .map(line -> line.substring("PRETTY_NAME=".length()).replace("\"", ""))
                    .findFirst()
                    .orElse(System.getProperty("os.name"));
        } catch (IOException _) {
            return System.getProperty("os.name");
        }
    }

    @Override
    public String toString() {
        return text + " and " + json;
    }
}
