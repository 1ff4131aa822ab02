package io.rdmacomm.cli.doctor;

import java.util.LinkedHashMap;
import java.util.Map;

/// The result of one check of `rdmacomm doctor`.
///
/// @param grade the verdict
/// @param subject what was checked
/// @param text what was found
/// @param remedy what to do about it; empty if nothing needs to be done
record Finding(Grade grade, String subject, String text, String remedy) {
    /// The verdict of a check.
    enum Grade {
        /// Works.
        OK,
        /// Works, but not as well as it could.
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
