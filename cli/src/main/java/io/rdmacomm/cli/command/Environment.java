package io.rdmacomm.cli.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;

/// The environment that results depend on; part of every JSON document.
public final class Environment {
    private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");

    private Environment() {}

    /// The members of the JSON object `environment`.
    ///
    /// @param provider the provider that was used; empty if there was none
    /// @param device the device that was used; empty if there was none
    public static Map<String, Object> describe(String provider, String device) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("cpu", cpu());
        members.put("cores", cores());
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

    /// The number of processors of this machine, even if a benchmark restricts this process to some of them.
    static int cores() {
        try (Stream<Path> folders = Files.list(PROCESSORS)) {
            int online = (int) folders.filter(Environment::isOnline).count();
            return online > 0 ? online : Runtime.getRuntime().availableProcessors();
        } catch (IOException _) {
            return Runtime.getRuntime().availableProcessors();
        }
    }

    /// A processor without an `online` file is online: on some machines the first one cannot be taken offline.
    private static boolean isOnline(Path processor) {
        if (!processor.getFileName().toString().matches("cpu[0-9]+")) {
            return false;
        }
        try {
            return "1".equals(Files.readString(processor.resolve("online")).strip());
        } catch (IOException _) {
            return true;
        }
    }

    /// The model of the processor, or its architecture if the kernel does not report the model.
    public static String cpu() {
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
