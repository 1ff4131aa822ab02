package io.rdmacomm.tests.lab;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The verbs objects that the kernel has, of all processes.
///
/// @param objects how many of each kind each device has, without contexts
/// @param contexts how many contexts each device has
record Resources(String objects, Map<String, Integer> contexts) {
    static final String COMMAND = "rdma resource show";

    private static final Pattern CONTEXTS = Pattern.compile("(?:\\d+: )?(\\S+): .*( ctx (\\d+)).*");
    /// librdmacm opens each device that it meets once in a process, and keeps it until the process ends
    /// (rdma_get_devices(3)).
    private static final int KEPT = 1;

    static Resources now() {
        StringBuilder objects = new StringBuilder();
        Map<String, Integer> contexts = new HashMap<>();
        Shell.text(COMMAND).lines().forEach(line -> {
            Matcher device = CONTEXTS.matcher(line);
            if (device.matches()) {
                contexts.put(device.group(1), Integer.parseInt(device.group(3)));
                objects.append(line, 0, device.start(2)).append(line, device.end(2), line.length());
            } else {
                objects.append(line);
            }
            objects.append('\n');
        });
        return new Resources(objects.toString(), contexts);
    }

    /// Whether a process that began with `before` has closed everything of its own, and its children have ended.
    boolean leftBy(Resources before) {
        return objects.equals(before.objects)
                && contexts.entrySet().stream()
                        .allMatch(now -> now.getValue() <= before.contexts.getOrDefault(now.getKey(), 0) + KEPT);
    }

    @Override
    public String toString() {
        return objects + "contexts " + contexts + "\n";
    }
}
