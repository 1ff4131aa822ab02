package io.rdmacomm.verbs;

import java.io.Serial;
import java.util.EnumSet;
import java.util.Set;

/// A queue pair cannot do what was asked in its present state, or a transition lacks or must not carry an
/// attribute.
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

    /// An operation that the present state does not allow.
    ///
    /// @param operation the call in words with its C name
    /// @param state the state that the queue pair is in
    /// @param detail which queue pair it is and what to do
    public QueuePairStateException(String operation, QueuePairState state, String detail) {
        super(operation, Errno.EINVAL, detail);
        this.from = state;
        this.to = state;
        this.missing = EnumSet.noneOf(QueuePairAttribute.class);
        this.forbidden = EnumSet.noneOf(QueuePairAttribute.class);
    }

    /// The state that the queue pair was, and still is, in.
    public QueuePairState from() {
        return from;
    }

    /// The state that was asked for; equal to [#from()] when the failed call was not a transition.
    public QueuePairState to() {
        return to;
    }

    /// The attributes that the transition needs and did not get.
    public Set<QueuePairAttribute> missing() {
        return EnumSet.copyOf(missing);
    }

    /// The attributes that the transition must not carry.
    public Set<QueuePairAttribute> forbidden() {
        return EnumSet.copyOf(forbidden);
    }
}
