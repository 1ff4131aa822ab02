package io.rdmacomm.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/// The environment that results depend on; part of every JSON document.
final class Environment {
    private Environment() {}

    /// The members of the JSON object `environment`.
    ///
    /// @param provider the provider that was used; empty if there was none
    /// @param device the device that was used; empty if there was none
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

    /// The model of the processor, or its architecture if the kernel does not report the model.
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
