package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.WorkStatus;

/// The requester of an unreliable connection (IBTA 9.8.1): a request in the [RequestQueue] completes when the
/// socket has taken its last packet. Under the queue pair's send lock; allocates nothing.
final class UnreliableRequester {
    private static final int SUCCESS = 0;
    private static final long NONE = -1;
    /// After this, other work has its turn, such as receiving; also fewer bytes than a socket buffers by default.
    private static final int MOST_PACKETS = 64;

    private static final int MOST_BYTES = 128 * 1024;

    private final RequestQueue queue;
    private final WindowRequests windowRequests;
    private final SentPackets packets;
    private final RequestPackets requests;
    private final int packetsAtOnce;
    /// The request that was begun most recently.
    private long begun = NONE;
    /// The next packet.
    private long cursor;

    private int failure;

    UnreliableRequester(QueuePairResources queuePair, PacketOutput output) {
        Destination destination = queuePair.destination();
        int mtu = destination.mtu();
        this.queue = queuePair.sends();
        this.windowRequests = queuePair.windowRequests();
        this.packets = new SentPackets(destination.sendPsn(), 1);
        this.requests = new RequestPackets(queue, packets, output, PacketOpcode.UNRELIABLE, mtu);
        this.packetsAtOnce = Math.min(MOST_PACKETS, MOST_BYTES / mtu);
    }

    /// Whether a request is in progress. One that was flushed is not.
    boolean hasBegun() {
        return begun == queue.head();
    }

    /// The status that the oldest request fails with, reported once; 0 for none.
    int takeFailure() {
        int taken = failure;
        failure = SUCCESS;
        return taken;
    }

    /// Sends a number of packets.
    ///
    /// @return false if there is more to send a moment later
    boolean send() {
        // Memory may have been deregistered since the last time.
        requests.forgetMemory();
        int count = 0;
        while (failure == SUCCESS && !queue.isEmpty() && (hasBegun() || queue.isOpen())) {
            if (!hasBegun()) {
                failure = begin();
            } else if (count < packetsAtOnce && sendNext()) {
                count++;
            } else {
                return false;
            }
        }
        return true;
    }

    /// @return the status that the request fails with, or 0
    private int begin() {
        long position = queue.head();
        int opcode = requests.opcode(position);
        if (RequestOpcode.isLocal(opcode)) {
            return carryOut();
        }
        if (RequestOpcode.isRead(opcode) || opcode == RequestOpcode.SEND_WITH_INVALIDATE) {
            // Unreliable connections have no such packets.
            return WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code();
        }
        int status = requests.resolve(position);
        if (status == SUCCESS) {
            status = requests.begin(position, cursor);
        }
        if (status == SUCCESS) {
            begun = position;
        }
        return status;
    }

    /// Executes a request on a local memory window.
    private int carryOut() {
        int status = windowRequests.execute(queue.segment(), queue.headAt());
        if (status == SUCCESS) {
            complete();
        }
        return status;
    }

    private void complete() {
        queue.completer().succeed(queue.segment(), queue.headAt());
        queue.removeHead();
    }

    /// @return false if the socket has no room
    private boolean sendNext() {
        failure = requests.resolve(begun);
        if (failure != SUCCESS) {
            return true;
        }
        if (!requests.send(begun, cursor, false)) {
            return false;
        }
        cursor++;
        if (cursor == packets.end(begun)) {
            complete();
        }
        return true;
    }

    /// Releases all memory.
    void close() {
        requests.close();
    }
}
