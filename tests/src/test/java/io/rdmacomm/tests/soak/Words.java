package io.rdmacomm.tests.soak;

import java.util.LinkedHashMap;
import java.util.Map;

/// A line between the conductor and a worker: words of the form `name=value`, and at the end perhaps `text=` and a
/// text.
final class Words {
    private final Map<String, String> values = new LinkedHashMap<>();

    static Words of(Object... namesAndValues) {
        Words words = new Words();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            words.values.put((String) namesAndValues[i], String.valueOf(namesAndValues[i + 1]));
        }
        return words;
    }

    static Words parse(String line) {
        Words words = new Words();
        String rest = line;
        while (!rest.isEmpty()) {
            int equals = rest.indexOf('=');
            String name = rest.substring(0, equals);
            int end = name.equals("text") ? -1 : rest.indexOf(' ');
            words.values.put(name, rest.substring(equals + 1, end < 0 ? rest.length() : end));
            rest = end < 0 ? "" : rest.substring(end + 1);
        }
        return words;
    }

    Words with(String name, Object value) {
        values.put(name, String.valueOf(value));
        return this;
    }

    Words addAll(Words others) {
        values.putAll(others.values);
        return this;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    Map<String, String> all() {
        return values;
    }

    String text(String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no " + name + " in: " + this);
        }
        return value;
    }

    long number(String name) {
        return Long.parseLong(text(name));
    }

    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        values.forEach((name, value) ->
                line.append(line.isEmpty() ? "" : " ").append(name).append('=').append(value.replace('\n', ' ')));
        return line.toString();
    }
}
