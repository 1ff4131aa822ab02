package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkRequestException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// The open regions whose addresses in requests are not those of memory in this process, but offsets, for
/// example those that are ZERO_BASED. Only the device can find their memory. A driver that copies data itself
/// would write to such an address, or read from it, and end the process; requests that lead to this are
/// rejected when they are posted.
///
/// Every driver copies inline data. mlx5 and hns also copy short messages and answers, when they are polled.
/// Thread-safe. A device without such regions pays one load for each post.
final class OffsetRegions {
    private static final int ANSWERED = 1 << SendOpcode.READ.code()
            | 1 << SendOpcode.COMPARE_AND_SWAP.code()
            | 1 << SendOpcode.FETCH_AND_ADD.code();

    private final String whyNoArrivals;
    private volatile int[] keys = {};

    /// @param whyNoArrivals the reason why the driver cannot have data arrive there; empty if it can
    OffsetRegions(String whyNoArrivals) {
        this.whyNoArrivals = whyNoArrivals;
    }

    /// A region was registered with this local key.
    synchronized void add(int key) {
        int[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
    }

    /// A region has lost this local key. Another region may already have the same key; it is in the list a second time.
    synchronized void remove(int key) {
        int[] fewer = new int[keys.length - 1];
        int at = 0;
        while (keys[at] != key) {
            fewer[at] = keys[at++];
        }
        System.arraycopy(keys, at + 1, fewer, at, fewer.length - at);
        keys = fewer;
    }

    /// Ends the batch in front of the first receive that the driver cannot execute. The caller posts the rest again,
    /// and gets the exception then.
    ///
    /// @return the number of receives from `first` on that are left
    /// @throws WorkRequestException if none is left
    int keepAcceptable(String operation, ReceiveBatch batch, int first, int count, Object queue) {
        int good = acceptable(batch, first, count);
        if (good == 0) {
            throw exception(operation, first, queue + " cannot receive into it: " + whyNoArrivals);
        }
        if (good < count) {
            batch.endAfter(first + good - 1);
        }
        return good;
    }

    /// The same for send requests.
    ///
    /// @param signalAll whether each request has a completion, into which an answer may be put
    int keepAcceptable(String operation, SendBatch batch, int first, int count, boolean signalAll, Object queue) {
        int good = acceptable(batch, first, count, signalAll);
        if (good == 0) {
            throw exception(operation, first, whyNot(batch, first, queue));
        }
        if (good < count) {
            batch.endAfter(first + good - 1);
        }
        return good;
    }

    private int acceptable(ReceiveBatch batch, int first, int count) {
        int[] offsets = keys;
        if (offsets.length == 0 || whyNoArrivals.isEmpty()) {
            return count;
        }
        int good = 0;
        while (good < count
                && !names(offsets, batch.segment(), batch.at(first + good), batch.elementsAt(first + good))) {
            good++;
        }
        return good;
    }

    private int acceptable(SendBatch batch, int first, int count, boolean signalAll) {
        int[] offsets = keys;
        if (offsets.length == 0) {
            return count;
        }
        boolean answersArrive = signalAll && !whyNoArrivals.isEmpty();
        int good = 0;
        while (good < count
                && !(isCopied(batch, first + good, answersArrive)
                        && names(offsets, batch.segment(), batch.at(first + good), batch.elementsAt(first + good)))) {
            good++;
        }
        return good;
    }

    private static boolean isCopied(SendBatch batch, int index, boolean answersArrive) {
        return isInline(batch, index) || (answersArrive && (1 << opcode(batch, index) & ANSWERED) != 0);
    }

    private static boolean isInline(SendBatch batch, int index) {
        return (batch.flags(index) & SendRequestLayout.FLAG_INLINE) != 0;
    }

    private static int opcode(SendBatch batch, int index) {
        return batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.OPCODE);
    }

    private static boolean names(int[] offsets, MemorySegment requests, long at, long elements) {
        int count = requests.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT);
        for (int i = 0; i < count; i++) {
            long element = elements + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            int key = requests.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            for (int offset : offsets) {
                if (key == offset) {
                    return true;
                }
            }
        }
        return false;
    }

    private String whyNot(SendBatch batch, int index, Object queue) {
        return isInline(batch, index)
                ? queue + " cannot copy inline data from it; send that without inline()"
                : queue + " cannot put the answer of " + SendOpcode.of(opcode(batch, index)) + " there: "
                        + whyNoArrivals;
    }

    private static WorkRequestException exception(String operation, int index, String why) {
        return new WorkRequestException(
                operation,
                Errno.EINVAL,
                index,
                "the addresses of its memory region are no addresses of this process, and " + why);
    }
}
