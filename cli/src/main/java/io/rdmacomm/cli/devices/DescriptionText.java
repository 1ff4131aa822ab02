package io.rdmacomm.cli.devices;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/// Prints a description as text.
public final class DescriptionText {
    private DescriptionText() {}

    /// Prints one member per line. Objects and lists of objects are indented below their name.
    public static void print(Map<?, ?> members, PrintWriter out) {
        print(members, "", out);
    }

    private static void print(Map<?, ?> members, String indent, PrintWriter out) {
        members.forEach((key, value) -> {
            switch (value) {
                case Map<?, ?> inner -> {
                    out.println(indent + key + ":");
                    print(inner, indent + "    ", out);
                }
                case List<?> list
                when !list.isEmpty() && list.getFirst() instanceof Map ->
                    list.forEach(element -> {
                        out.println(indent + key + ":");
                        print((Map<?, ?>) element, indent + "    ", out);
                    });
                case List<?> list ->
                    out.printf(
                            "%s%-28s %s%n",
                            indent,
                            key + ":",
                            String.join(", ", list.stream().map(String::valueOf).toList()));
                default -> out.printf("%s%-28s %s%n", indent, key + ":", value);
            }
        });
    }
}
