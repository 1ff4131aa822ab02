package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.WorkRequestException;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.util.Arrays;

/// The open regions whose addresses in requests are offsets instead of addresses in this process, for example
/// ZERO_BASED ones. Only the device can find their memory. A driver that copies data itself would access a wrong
/// address and crash the process, so requests that lead to this are rejected when they are posted.
///
/// Every driver copies inline data. When polled, mlx5 and hns also copy short messages and answers. Thread-safe. A
/// device without such regions pays one load for each post.
final class OffsetRegions {
    private static final int ANSWERED = 1 << SendOpcode.READ.code()
            | 1 << SendOpcode.COMPARE_AND_SWAP.code()
            | 1 << SendOpcode.FETCH_AND_ADD.code();

    private final String whyNoArrivals;
    private volatile int[] keys = {};

    /// @param whyNoArrivals the reason why the driver cannot receive data there; empty if it can
    OffsetRegions(String whyNoArrivals) {
        this.whyNoArrivals = whyNoArrivals;
    }

    /// A region was registered with this local key.
    synchronized void add(int key) {
        int[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
    }

    /// A region has lost this local key. If another region already has the same key, the list holds it twice.
    synchronized void remove(int key) {
        int[] fewer = new int[keys.length - 1];
        int at = 0;
        while (keys[at] != key) {
            fewer[at] = keys[at++];
        }
        System.arraycopy(keys, at + 1, fewer, at, fewer.length - at);
        keys = fewer;
    }

    /// Ends the chain before the first receive that the driver cannot execute. The caller then posts the rest
    /// again, and gets the exception.
    ///
    /// @return the number of receives from `first` on that are left
    /// @throws WorkRequestException if none is left
    int keepReceives(String operation, RequestChain receives, int first, int count, Object queue) {
        int good = acceptableReceives(receives, first, count);
        if (good == 0) {
            throw exception(operation, first, queue + " cannot receive into it: " + whyNoArrivals);
        }
        if (good < count) {
            receives.endAfter(first + good - 1);
        }
        return good;
    }

    /// The same for send requests.
    ///
    /// @param signalAll whether each request has a completion, which may hold an answer
    int keepSends(String operation, RequestChain requests, int first, int count, boolean signalAll, Object queue) {
        int good = acceptableSends(requests, first, count, signalAll);
        if (good == 0) {
            throw exception(operation, first, whyNot(requests, first, queue));
        }
        if (good < count) {
            requests.endAfter(first + good - 1);
        }
        return good;
    }

    private int acceptableReceives(RequestChain receives, int first, int count) {
        int[] offsets = keys;
        if (offsets.length == 0 || whyNoArrivals.isEmpty()) {
            return count;
        }
        int good = 0;
        while (good < count && !names(offsets, receives, first + good)) {
            good++;
        }
        return good;
    }

    private int acceptableSends(RequestChain requests, int first, int count, boolean signalAll) {
        int[] offsets = keys;
        if (offsets.length == 0) {
            return count;
        }
        boolean answersArrive = signalAll && !whyNoArrivals.isEmpty();
        int good = 0;
        while (good < count
                && !(isCopied(requests, first + good, answersArrive) && names(offsets, requests, first + good))) {
            good++;
        }
        return good;
    }

    private static boolean isCopied(RequestChain requests, int index, boolean answersArrive) {
        return isInline(requests, index) || (answersArrive && (1 << opcode(requests, index) & ANSWERED) != 0);
    }

    private static boolean isInline(RequestChain requests, int index) {
        return (requests.flags(index) & SendRequestLayout.FLAG_INLINE) != 0;
    }

    private static int opcode(RequestChain requests, int index) {
        return requests.segment().get(JAVA_INT, requests.at(index) + SendRequestLayout.OPCODE);
    }

    private static boolean names(int[] offsets, RequestChain requests, int index) {
        int count = requests.elementCount(index);
        for (int i = 0; i < count; i++) {
            long element = requests.elementAt(index, i);
            int key = requests.segment().get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            for (int offset : offsets) {
                if (key == offset) {
                    return true;
                }
            }
        }
        return false;
    }

    private String whyNot(RequestChain requests, int index, Object queue) {
        return isInline(requests, index)
                ? queue + " cannot copy inline data from it; send that without inline()"
                : queue + " cannot put the answer of " + SendOpcode.of(opcode(requests, index)) + " there: "
                        + whyNoArrivals;
    }

    private static WorkRequestException exception(String operation, int index, String why) {
        return new WorkRequestException(
                operation,
                Errno.EINVAL,
                index,
                "the addresses of its memory region are not addresses of this process, and " + why);
    }
}
