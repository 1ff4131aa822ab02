package io.rdmacomm.verbs;

import java.io.Serial;
import java.util.EnumSet;
import java.util.Set;

/// An operation is not allowed in the state of the queue pair, or a transition has the wrong attributes.
///
/// The state of the queue pair is unchanged (ibv_modify_qp(3), table of required and optional attributes).
public final class QueuePairStateException extends VerbException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final QueuePairState from;
    private final QueuePairState to;
    private final EnumSet<QueuePairAttribute> missing;
    private final EnumSet<QueuePairAttribute> forbidden;

    QueuePairStateException(
            QueuePairState from,
            QueuePairState to,
            EnumSet<QueuePairAttribute> missing,
            EnumSet<QueuePairAttribute> forbidden,
            String detail) {
        super("modify queue pair (ibv_modify_qp)", Errno.EINVAL, detail);
        this.from = from;
        this.to = to;
        this.missing = missing;
        this.forbidden = forbidden;
    }

    /// An operation that the current state does not allow.
    ///
    /// @param operation the call in words, with its C name
    /// @param state the current state
    /// @param detail the queue pair, and what to do
    public QueuePairStateException(String operation, QueuePairState state, String detail) {
        super(operation, Errno.EINVAL, detail);
        this.from = state;
        this.to = state;
        this.missing = EnumSet.noneOf(QueuePairAttribute.class);
        this.forbidden = EnumSet.noneOf(QueuePairAttribute.class);
    }

    /// The state that the queue pair was in, and still is.
    public QueuePairState from() {
        return from;
    }

    /// The requested state; equal to [#from()] if the failed call was not a transition.
    public QueuePairState to() {
        return to;
    }

    /// The required attributes that were not set.
    public Set<QueuePairAttribute> missing() {
        return EnumSet.copyOf(missing);
    }

    /// The attributes that were set, but are not allowed in this transition.
    public Set<QueuePairAttribute> forbidden() {
        return EnumSet.copyOf(forbidden);
    }
}
