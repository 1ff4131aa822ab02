package io.rdmacomm.cli.doctor;

import java.io.Serial;

/// A check did not find what it expected.
final class CheckFailure extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Verdict verdict;

    CheckFailure(String expected, String actual) {
        this(Verdict.failed(expected, actual));
    }

    CheckFailure(Verdict verdict) {
        super(verdict.text());
        this.verdict = verdict;
    }

    Verdict verdict() {
        return verdict;
    }
}
