package io.rdmacomm.compare;

import java.io.File;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The versions of the peers on this machine.
final class Versions {
    private static final Pattern NUMBER = Pattern.compile("[0-9]+(\\.[0-9A-Za-z]+)+");
    private static final Map<String, List<String>> PROGRAMS = Map.of(
            "UCX", List.of("ucx_info", "-v"),
            "libfabric", List.of("fi_info", "--version"),
            "iperf3", List.of("iperf3", "--version"),
            "qperf", List.of("qperf", "--version"),
            "perftest", List.of("ib_write_lat", "--version"));
    private static final Map<String, String> JARS =
            Map.of("Aeron", "aeron-driver-", "Netty", "netty-transport-", "jucx", "jucx-");

    private Versions() {}

    /// The name and version of each that is here.
    static Map<String, Object> all() {
        Map<String, Object> versions = new LinkedHashMap<>();
        PROGRAMS.keySet().stream().sorted().forEach(name -> {
            List<String> command = PROGRAMS.getOrDefault(name, List.of());
            if (Programs.exists(command.getFirst())) {
                put(versions, name, Programs.output(command));
            }
        });
        JARS.forEach((name, jar) -> {
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                int at = entry.lastIndexOf('/' + jar);
                if (at >= 0 && Character.isDigit(entry.charAt(at + jar.length() + 1))) {
                    versions.put(name, entry.substring(at + jar.length() + 1).replace(".jar", ""));
                }
            }
        });
        return versions;
    }

    private static void put(Map<String, Object> versions, String name, String text) {
        Matcher number = NUMBER.matcher(text);
        if (number.find()) {
            versions.put(name, number.group());
        }
    }
}
