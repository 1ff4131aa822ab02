package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import org.jspecify.annotations.Nullable;

/// Rejects the send requests that siw accepts but executes wrongly (decision 16): a fenced READ, a READ of at most
/// 32 bytes across a page of the peer, and an element of length 0 before another.
final class SiwRejections {
    private SiwRejections() {}

    /// The number of requests from `first` on that siw executes correctly.
    static int acceptable(RequestChain requests, int first, int count) {
        int good = 0;
        while (good < count && complaint(requests, first + good) == null) {
            good++;
        }
        return good;
    }

    /// The exception for a request that is not acceptable.
    ///
    /// @param device its name, for the message
    static WorkRequestException rejection(String operation, RequestChain requests, int index, Object device) {
        return new WorkRequestException(
                operation, Errno.EINVAL, index, complaint(requests, index) + " (device " + device + ")");
    }

    private static @Nullable String complaint(RequestChain requests, int index) {
        if (SiwElements.isRead(requests, index)) {
            return complaintOfRead(requests, index);
        }
        boolean inline = (requests.flags(index) & SendRequestLayout.FLAG_INLINE) != 0;
        return !inline && hasElementBehindEmptyOne(requests, index)
                ? "an element of length 0 in front of another is not possible on siw; leave it out"
                : null;
    }

    private static @Nullable String complaintOfRead(RequestChain requests, int index) {
        if ((requests.flags(index) & SendRequestLayout.FLAG_FENCE) != 0) {
            return "a READ cannot be fenced on siw; post it when what it must wait for has completed";
        }
        long bytes = requests.length(index);
        long from = requests.segment().get(JAVA_LONG, requests.at(index) + SendRequestLayout.REMOTE_ADDRESS);
        return SiwElements.isMishandled(from, bytes)
                ? "a READ of " + bytes + " bytes from 0x" + Long.toHexString(from) + " on crosses a page of the peer,"
                        + " and siw gets its bytes wrong; read more than 32, or in two parts"
                : null;
    }

    private static boolean hasElementBehindEmptyOne(RequestChain requests, int index) {
        boolean empty = false;
        for (int i = 0; i < requests.elementCount(index); i++) {
            boolean none = length(requests, index, i) == 0;
            if (empty && !none) {
                return true;
            }
            empty |= none;
        }
        return false;
    }

    private static long length(RequestChain requests, int index, int element) {
        long at = requests.elementAt(index, element) + ReceiveRequestLayout.ELEMENT_LENGTH;
        return Integer.toUnsignedLong(requests.segment().get(JAVA_INT, at));
    }
}
