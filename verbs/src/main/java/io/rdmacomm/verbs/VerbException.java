package io.rdmacomm.verbs;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A verbs call failed. Expected outcomes (a full queue, an empty completion queue) are return values instead, and
/// failed work is a completion with a [WorkStatus].
public class VerbException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String operation;
    private final Errno errno;

    /// A failure without an underlying exception.
    ///
    /// @param operation the call in words, with its C name, for example `register memory (ibv_reg_mr)`
    /// @param errno the errno of the failure
    /// @param detail what happened, to which object, and what to do
    public VerbException(String operation, Errno errno, String detail) {
        this(operation, errno, detail, null);
    }

    /// A failure with the exception that caused it.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the errno of the failure
    /// @param detail what happened, to which object, and what to do
    /// @param cause the underlying exception, or null
    public VerbException(String operation, Errno errno, String detail, @Nullable Throwable cause) {
        super(operation + " failed: " + errno + ", " + detail, cause);
        this.operation = operation;
        this.errno = errno;
    }

    /// The failed call in words, with its C name.
    public final String operation() {
        return operation;
    }

    /// The errno of the failure.
    public final Errno errno() {
        return errno;
    }
}
