package io.rdmacomm.cli.doctor;

import java.util.LinkedHashMap;
import java.util.Map;

/// The result of one check on one port.
///
/// @param check its name
/// @param port the port of the device
/// @param verdict how it ended
/// @param seconds how long it took
public record CheckResult(String check, int port, Verdict verdict, double seconds) {
    /// Whether the device does not work as expected.
    public boolean hasFailed() {
        return verdict.grade() == Verdict.Grade.FAILED;
    }

    /// The members of the JSON object.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("check", check);
        members.put("port", port);
        members.put("grade", verdict.grade().name());
        members.put("found", verdict.text());
        members.put("remedy", verdict.remedy());
        members.put("seconds", Math.round(seconds * 1000) / 1000.0);
        return members;
    }

    @Override
    public String toString() {
        String line = "%-13s  port %d  %-27s %s (%.1f s)"
                .formatted(verdict.grade().label(), port, check, verdict.text(), seconds);
        return verdict.remedy().isEmpty() ? line : line + "%n%50s -> %s".formatted("", verdict.remedy());
    }
}
