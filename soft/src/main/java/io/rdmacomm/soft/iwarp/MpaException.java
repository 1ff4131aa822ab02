package io.rdmacomm.soft.iwarp;

import java.io.IOException;
import java.io.Serial;

/// A peer broke the rules of connection set-up. Ends only that connection.
public final class MpaException extends IOException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final MpaViolation violation;

    /// A peer broke a rule.
    public MpaException(MpaViolation violation) {
        super("the peer " + violation);
        this.violation = violation;
    }

    /// The rule that was broken.
    public MpaViolation violation() {
        return violation;
    }
}
