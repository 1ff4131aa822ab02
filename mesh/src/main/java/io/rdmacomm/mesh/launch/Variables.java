package io.rdmacomm.mesh.launch;

import io.rdmacomm.verbs.Printable;
import java.util.Map;

/// Environment variables, [printable][Printable], with errors that name the variable and its value.
public record Variables(Map<String, String> values) {
    boolean has(String name) {
        return !values.getOrDefault(name, "").isBlank();
    }

    /// @throws IllegalArgumentException if it is not set
    String text(String name) {
        if (!has(name)) {
            throw new IllegalArgumentException(name + " is not set");
        }
        return Printable.text(values.getOrDefault(name, "").strip());
    }

    String textOr(String name, String otherwise) {
        return has(name) ? text(name) : otherwise;
    }

    /// @throws IllegalArgumentException if it is not set, or not a number from `min` to `max`
    int number(String name, int min, int max) {
        String text = text(name);
        try {
            int value = Integer.parseInt(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw wrong(name, "must be a number from " + min + " to " + max);
    }

    /// The number of nodes.
    int size(String name) {
        return number(name, 1, MeetingPoint.MAX_SIZE);
    }

    /// The number of a node.
    int rank(String name, int size) {
        return number(name, 0, size - 1);
    }

    IllegalArgumentException wrong(String name, String requirement) {
        return new IllegalArgumentException(name + " is '" + text(name) + "', " + requirement);
    }
}
