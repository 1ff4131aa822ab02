package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.mad.ReadDepths;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import java.security.SecureRandom;

/// This side's terms for a connection.
///
/// @param depths the most READs and atomics in flight, of the peer and of this side
/// @param receivePsn the number of the first packet that it expects
record ConnectionTerms(QueuePair queuePair, ConnectionParameters parameters, ReadDepths depths, int receivePsn) {
    private static final int PSN_LIMIT = 1 << 24;
    private static final SecureRandom RANDOM = new SecureRandom();

    /// Uses a random first packet number, which no other host can guess.
    ConnectionTerms(QueuePair queuePair, ConnectionParameters parameters, ReadDepths depths) {
        this(queuePair, parameters, depths, RANDOM.nextInt(PSN_LIMIT));
    }

    /// When this side retransmits unacknowledged packets.
    AckTimeout ackTimeout() {
        return parameters.ackTimeout().orElse(RetryOptions.defaults().timeout());
    }

    /// Takes the queue pair from INIT to READY_TO_SEND.
    ///
    /// @param peer the number of the peer's queue pair
    /// @param sendPsn the number of the first packet that the peer expects
    /// @param agreed the agreed number of READs and atomics in flight
    /// @param rnrRetries how often the peer wants a message to be retried if it has no receive
    void bringUp(AddressVector path, PathMtu mtu, int peer, int sendPsn, ReadDepths agreed, int rnrRetries) {
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path)
                .pathMtu(mtu)
                .destinationNumber(peer)
                .receivePsn(receivePsn)
                .maxDestinationReadAtomic(agreed.accepts())
                .minRnrTimer(RetryOptions.defaults().rnrTimer()));
        queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(sendPsn)
                .timeout(ackTimeout())
                .retryCount(parameters.retryCount())
                .rnrRetry(rnrRetries)
                .maxReadAtomic(agreed.makes()));
    }
}
