package io.rdmacomm.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/// One line of `rdmacomm doctor`.
///
/// @param grade how good it is
/// @param subject what was looked at
/// @param text what was found
/// @param remedy what to do about it; empty when nothing needs to be done
record Finding(Grade grade, String subject, String text, String remedy) {
    /// How good a finding is.
    enum Grade {
        /// As it should be.
        OK,
        /// Works, not as well as it could.
        WARN,
        /// Does not work.
        FAIL
    }

    static Finding ok(String subject, String text) {
        return new Finding(Grade.OK, subject, text, "");
    }

    static Finding warn(String subject, String text, String remedy) {
        return new Finding(Grade.WARN, subject, text, remedy);
    }

    static Finding fail(String subject, String text, String remedy) {
        return new Finding(Grade.FAIL, subject, text, remedy);
    }

    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("grade", grade.name());
        members.put("subject", subject);
        members.put("found", text);
        members.put("remedy", remedy);
        return members;
    }
}
