package io.rdmacomm.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/// What a result depends on besides the code: stands beside the results in every JSON document.
final class Environment {
    private Environment() {}

    /// The members of the JSON object `environment`.
    ///
    /// @param provider the provider that was used, empty for none
    /// @param device the device that was used, empty for none
    static Map<String, Object> describe(String provider, String device) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("cpu", cpu());
        members.put("cores", Runtime.getRuntime().availableProcessors());
        members.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        members.put("jdk", System.getProperty("java.vm.vendor") + " " + Runtime.version());
        members.put("provider", provider);
        members.put("device", device);
        members.put("version", Version.version());
        members.put("commit", Version.commit());
        members.put("command", CommandLineText.text());
        members.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        return members;
    }

    /// The processor's name, or its architecture where the kernel does not tell.
    static String cpu() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException _) {
            return System.getProperty("os.arch");
        }
    }
}
