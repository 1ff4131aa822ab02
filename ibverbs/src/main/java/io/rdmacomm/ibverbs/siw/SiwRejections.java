package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkRequestException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Rejects the send requests that siw accepts but executes wrongly (decision 16): a fenced READ, a READ of at most 32
/// bytes across a page of the peer, and an element of length 0 in front of another.
final class SiwRejections {
    private SiwRejections() {}

    /// The number of requests from `first` on that siw executes correctly.
    static int acceptable(SendBatch batch, int first, int count) {
        int good = 0;
        while (good < count && complaint(batch, first + good) == null) {
            good++;
        }
        return good;
    }

    /// The exception for a request that is not acceptable.
    ///
    /// @param device its name, for the message
    static WorkRequestException rejection(String operation, SendBatch batch, int index, Object device) {
        return new WorkRequestException(
                operation, Errno.EINVAL, index, complaint(batch, index) + " (device " + device + ")");
    }

    private static @Nullable String complaint(SendBatch batch, int index) {
        if (SiwElements.isRead(batch, index)) {
            return complaintOfRead(batch, index);
        }
        boolean inline = (batch.flags(index) & SendRequestLayout.FLAG_INLINE) != 0;
        return !inline && hasElementBehindEmptyOne(batch, index)
                ? "an element of length 0 in front of another is not possible on siw; leave it out"
                : null;
    }

    private static @Nullable String complaintOfRead(SendBatch batch, int index) {
        if ((batch.flags(index) & SendRequestLayout.FLAG_FENCE) != 0) {
            return "a READ cannot be fenced on siw; post it when what it must wait for has completed";
        }
        long bytes = 0;
        for (int i = 0; i < SiwElements.count(batch, index); i++) {
            bytes += length(batch, index, i);
        }
        long from = batch.segment().get(JAVA_LONG, batch.at(index) + SendRequestLayout.REMOTE_ADDRESS);
        return SiwElements.isMishandled(from, bytes)
                ? "a READ of " + bytes + " bytes from 0x" + Long.toHexString(from) + " on crosses a page of the peer,"
                        + " and siw gets its bytes wrong; read more than 32, or in two parts"
                : null;
    }

    private static boolean hasElementBehindEmptyOne(SendBatch batch, int index) {
        boolean empty = false;
        for (int i = 0; i < SiwElements.count(batch, index); i++) {
            boolean none = length(batch, index, i) == 0;
            if (empty && !none) {
                return true;
            }
            empty |= none;
        }
        return false;
    }

    private static long length(SendBatch batch, int index, int element) {
        MemorySegment requests = batch.segment();
        long at = batch.elementsAt(index) + (long) element * ReceiveRequestLayout.ELEMENT_BYTES;
        return Integer.toUnsignedLong(requests.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH));
    }
}
