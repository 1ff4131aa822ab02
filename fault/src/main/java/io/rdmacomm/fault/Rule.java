package io.rdmacomm.fault;

/// One rule: the operations, and the fault that they get.
///
/// @param queuePair the queue pair, counted from 1 in the order of creation in its context; 0 for all
record Rule(FaultOperation operation, int queuePair, Occurrence when, InjectedFault fault) {
    /// The moments at which rules apply. Each has its own counters, which only one thread uses at a time.
    enum Moment {
        /// When a send is posted.
        POST_SEND,
        /// When a receive is posted.
        POST_RECEIVE,
        /// When the completion of a send is polled.
        POLL_SEND,
        /// When the completion of a receive is polled.
        POLL_RECEIVE,
        /// When a call is made.
        CALL
    }

    /// The moment at which this rule applies.
    Moment moment() {
        if (operation.isCall()) {
            return Moment.CALL;
        }
        if (fault instanceof InjectedFault.Delay) {
            return operation == FaultOperation.RECEIVE ? Moment.POLL_RECEIVE : Moment.POLL_SEND;
        }
        return operation == FaultOperation.RECEIVE ? Moment.POST_RECEIVE : Moment.POST_SEND;
    }

    boolean isRandom() {
        return when.isRandom() || fault.isRandom();
    }
}
