package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.AtomicResponse;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalKeys;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.verbs.AccessFlag;
import org.jspecify.annotations.Nullable;

/// The responses that this side owes its peer, in the order of the requests (RFC 5040 5.5). Holds at most as many as
/// agreed on. The memory of a READ is read only when its response is sent, so its key is then checked again.
final class OwedResponses {
    private static final int READ = AccessFlag.REMOTE_READ.bit();

    private final LocalKeys keys;
    private final OutgoingMessage message;
    private final ElementList source = new ElementList(1);
    private final SegmentHeader header = new SegmentHeader();
    private final boolean[] atomic;
    private final int[] sinkKeys;
    private final long[] sinkAddresses;
    private final int[] sourceKeys;
    private final long[] sourceAddresses;
    private final long[] lengths;
    private int first;
    private int count;
    private int atomicNumber = 1;
    private boolean refused;

    OwedResponses(LocalMemory memory, LocalKeys keys, LinkTerms terms) {
        this.keys = keys;
        this.message = new OutgoingMessage(memory, terms.segmentLimit());
        int most = Math.max(1, terms.mpa().inboundReads());
        atomic = new boolean[most];
        sinkKeys = new int[most];
        sinkAddresses = new long[most];
        sourceKeys = new int[most];
        sourceAddresses = new long[most];
        lengths = new long[most];
    }

    boolean isEmpty() {
        return count == 0 && !message.isActive();
    }

    /// Whether the peer has as many requests in flight as were agreed on.
    boolean isFull() {
        return count == lengths.length;
    }

    /// Adds the response to a Read Request whose memory was checked.
    void addRead(ReadRequest request) {
        int at = next();
        atomic[at] = false;
        sinkKeys[at] = request.sinkKey;
        sinkAddresses[at] = request.sinkAddress;
        sourceKeys[at] = request.sourceKey;
        sourceAddresses[at] = request.sourceAddress;
        lengths[at] = Integer.toUnsignedLong(request.bytes);
    }

    /// Adds the response with the old value of an atomic operation.
    void addAtomic(int identifier, long original) {
        int at = next();
        atomic[at] = true;
        sinkKeys[at] = identifier;
        sinkAddresses[at] = original;
    }

    private int next() {
        int at = (first + count) % lengths.length;
        count++;
        return at;
    }

    /// Whether the memory of a READ was withdrawn after the request came.
    boolean isRefused() {
        return refused;
    }

    /// Adds the next frame.
    ///
    /// @return false if there is none
    boolean writeFrame(FrameOutput out) {
        if (!message.isActive() && !begin(out)) {
            return false;
        }
        if (message.isActive() && !message.writeFrame(out)) {
            refused = true;
            return false;
        }
        return true;
    }

    /// Whether a response has begun and not ended, so that no other frame may be sent.
    boolean isInside() {
        return message.isActive();
    }

    private boolean begin(FrameOutput out) {
        if (count == 0 || refused) {
            return false;
        }
        int at = first;
        if (atomic[at]) {
            header.setUntagged(Opcode.ATOMIC_RESPONSE, atomicNumber++);
            AtomicResponse.encode(out.headers(), out.begin(header), sinkKeys[at], sinkAddresses[at]);
            out.end();
        } else {
            source.clear();
            AccessFault fault = resolve(at);
            if (fault != null) {
                refused = true;
                return false;
            }
            message.beginTagged(Opcode.READ_RESPONSE, sinkKeys[at], sinkAddresses[at], source);
            message.onlyWhileValid(lengths[at] == 0 ? 0 : sourceKeys[at]);
        }
        first = (first + 1) % lengths.length;
        count--;
        return true;
    }

    private @Nullable AccessFault resolve(int at) {
        // An empty READ needs no valid key.
        return lengths[at] == 0 ? null : keys.resolve(sourceKeys[at], sourceAddresses[at], lengths[at], READ, source);
    }
}
