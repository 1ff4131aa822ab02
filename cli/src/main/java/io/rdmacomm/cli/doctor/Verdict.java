package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.verbs.UnsupportedVerbException;
import java.util.concurrent.ExecutionException;

/// How a check ended.
///
/// @param grade the verdict
/// @param text what was found; for a failure, what was expected and what happened
/// @param remedy what to do about it; empty if nothing needs to be done
public record Verdict(Grade grade, String text, String remedy) {
    private static final String REPORT = "attach the two files of --report to an issue of rdmacomm";

    /// The verdict of a check.
    public enum Grade {
        /// The device works as expected.
        OK("ok"),
        /// The device does not work as expected.
        FAILED("FAILED"),
        /// The device reports that it cannot do what the check needs.
        NOT_SUPPORTED("not supported");

        private final String label;

        Grade(String label) {
            this.label = label;
        }

        /// The grade for people.
        public String label() {
            return label;
        }
    }

    static Verdict ok(String text) {
        return new Verdict(Grade.OK, text, "");
    }

    static Verdict failed(String expected, String actual) {
        return failed(expected, actual, REPORT);
    }

    static Verdict failed(String expected, String actual, String remedy) {
        return new Verdict(Grade.FAILED, "expected " + expected + ", but " + actual, remedy);
    }

    /// The device lacks what the check needs.
    public static Verdict notSupported(String reason) {
        return new Verdict(Grade.NOT_SUPPORTED, reason, "");
    }

    /// The verdict on a check whose task ended with an exception.
    static Verdict of(ExecutionException failure) {
        Throwable cause = failure.getCause();
        return ofFailure(cause == null ? failure : cause);
    }

    /// The verdict on a check that ended with an exception.
    public static Verdict ofFailure(Throwable failure) {
        return switch (failure) {
            case CheckFailure known -> known.verdict();
            case UnsupportedVerbException missing -> notSupported(FailureText.of(missing));
            default -> new Verdict(Grade.FAILED, FailureText.of(failure), REPORT);
        };
    }
}
