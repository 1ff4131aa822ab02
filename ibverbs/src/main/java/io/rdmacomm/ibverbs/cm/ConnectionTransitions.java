package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.ffm.QueuePairAttributesLayout;
import io.rdmacomm.ibverbs.structs.QueuePairStructs;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectFailedException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Brings a queue pair up with the attributes that the connection managers of both sides agreed on
/// (rdma_init_qp_attr(3)), as librdmacm does with its own queue pairs.
///
/// On iWARP the kernel does that itself when the TCP connection is established; this class only notes the new
/// state.
final class ConnectionTransitions {
    private final LibRdmacm library;
    private final boolean iwarp;
    private final ConnectedQueuePair.Table queuePairs;

    ConnectionTransitions(LibRdmacm library, boolean iwarp, ConnectedQueuePair.Table queuePairs) {
        this.library = library;
        this.iwarp = iwarp;
        this.queuePairs = queuePairs;
    }

    /// Whether the kernel brings queue pairs up.
    boolean isIwarp() {
        return iwarp;
    }

    /// From RESET to INIT, with all rights for the peer that the device supports: the keys of regions restrict
    /// access.
    void initialize(ConnectionIdentifier identifier, QueuePair queuePair) {
        QueuePairAttributes change = ask(identifier, QueuePairState.INIT)
                .accessFlags(queuePair
                        .protectionDomain()
                        .context()
                        .supported(ConnectionOptions.defaults().accessFlags()));
        if (iwarp) {
            // iWARP has neither of them.
            change.partitionKeyIndex(0).port(1);
        }
        queuePair.modify(change);
    }

    /// From INIT to READY_TO_SEND with the agreed depths.
    void bringUp(ConnectionIdentifier identifier, QueuePair queuePair, ConnectionDepths depths) {
        if (iwarp) {
            ConnectedQueuePair ours = find(queuePair);
            if (ours != null) {
                ours.connected();
            }
            return;
        }
        // The kernel proposes 0 for the timer, which is the longest: 655 ms for a message without a posted receive.
        queuePair.modify(ask(identifier, QueuePairState.READY_TO_RECEIVE)
                .maxDestinationReadAtomic(depths.responderResources())
                .minRnrTimer(RetryOptions.defaults().rnrTimer()));
        queuePair.modify(ask(identifier, QueuePairState.READY_TO_SEND).maxReadAtomic(depths.initiatorDepth()));
    }

    /// To ERROR, whatever the state; does nothing for a queue pair that its owner has closed or reset.
    void fail(QueuePair queuePair) {
        ConnectedQueuePair ours = find(queuePair);
        QueuePairState state = queuePair.state();
        if (ours == null || state == QueuePairState.RESET || state == QueuePairState.ERROR) {
            return;
        }
        try {
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        } catch (VerbException | IllegalStateException e) {
            // Its device is gone, or its owner has just closed or reset it. Either way it sends no more.
            ours.noticeState();
        }
    }

    /// The same queue pair in this provider; null if its owner closes it.
    private @Nullable ConnectedQueuePair find(QueuePair queuePair) {
        ConnectedQueuePair found = queuePairs.numbered(queuePair.number());
        // While it is open, no other queue pair has its number.
        return queuePair.isOpen() ? found : null;
    }

    private QueuePairAttributes ask(ConnectionIdentifier identifier, QueuePairState to) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttributesLayout.BYTES, 8);
            MemorySegment mask = arena.allocate(JAVA_INT);
            attributes.set(JAVA_INT, QueuePairAttributesLayout.STATE, to.code());
            int errno = identifier.call(
                    address -> library.initQueuePairAttributes(address, attributes.address(), mask.address()));
            if (errno != 0) {
                // The kernel reports an error if the peer has left meanwhile.
                throw new ConnectFailedException(
                        "go to " + to + " (rdma_init_qp_attr)",
                        Errno.of(errno),
                        identifier + ": the peer has withdrawn, or the device is gone");
            }
            return QueuePairStructs.readChange(mask.get(JAVA_INT, 0), attributes)
                    .state(to);
        }
    }
}
