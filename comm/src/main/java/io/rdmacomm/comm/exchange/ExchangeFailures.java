package io.rdmacomm.comm.exchange;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.setup.SetupException;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;

/// Translates failures of the connection into public exceptions.
final class ExchangeFailures {
    private ExchangeFailures() {}

    static RdmaException of(SetupException failure) {
        String message = failure.getMessage();
        return switch (failure.reason()) {
            case PEER_CLOSED -> new PeerFailedException(PeerFailedException.Reason.GONE, message, failure);
            case DEADLINE_PASSED -> new DeadlineException(message, failure);
            case CLOSED -> new ClosedException(message, failure);
            case INTERRUPTED -> new RdmaInterruptedException(message, failure);
            default ->
                new SetupFailedException(
                        SetupFailedException.Reason.valueOf(failure.reason().name()), message, failure);
        };
    }
}
