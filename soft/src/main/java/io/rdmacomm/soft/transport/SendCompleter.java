package io.rdmacomm.soft.transport;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// Completes the send requests of one queue pair. Under its send lock; allocates nothing.
public final class SendCompleter {
    private static final int SUCCESS = 0;

    private final OwnCompletions completions;
    private final int number;
    private final boolean signalAll;

    /// Completes requests of the queue pair with this number.
    ///
    /// @param signalAll whether unsignalled requests complete, too
    public SendCompleter(OwnCompletions completions, int number, boolean signalAll) {
        this.completions = completions;
        this.number = number;
        this.signalAll = signalAll;
    }

    /// A request has succeeded, and has moved as many bytes as its elements have.
    public void succeed(SendRequest request) {
        if (request.mayEndAtOnce) {
            request.endedAtOnce = true;
        } else if (isSignalled(request.flags)) {
            succeed(request.workId, request.opcode, request.length);
        }
    }

    /// The request at `at` has succeeded, and has moved all bytes of its elements.
    public void succeed(MemorySegment request, long at) {
        if (isSignalled(request.get(JAVA_INT, at + SendRequestLayout.FLAGS))) {
            succeed(
                    request.get(JAVA_LONG, at + SendRequestLayout.WORK_ID),
                    request.get(JAVA_INT, at + SendRequestLayout.OPCODE),
                    LocalElements.bytes(request, at));
        }
    }

    private boolean isSignalled(int flags) {
        return signalAll || (flags & SendRequestLayout.FLAG_SIGNALED) != 0;
    }

    /// A request has failed or was flushed; it completes whether it was signalled or not (IBTA 10.7.3.1).
    ///
    /// @param vendorError details beyond the status, or 0
    public void fail(long workId, int status, int vendorError) {
        completions.push(workId, status, 0, 0, number, vendorError);
    }

    private void succeed(long workId, int opcode, long length) {
        long bytes = RequestOpcode.isAtomic(opcode) ? Long.BYTES : length;
        completions.push(workId, SUCCESS, completionOpcode(opcode), (int) bytes, number, 0);
    }

    private static int completionOpcode(int opcode) {
        return switch (opcode) {
            case RequestOpcode.WRITE, RequestOpcode.WRITE_WITH_IMMEDIATE -> CompletionOpcode.WRITE.code();
            case RequestOpcode.READ -> CompletionOpcode.READ.code();
            case RequestOpcode.COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP.code();
            case RequestOpcode.FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD.code();
            case RequestOpcode.LOCAL_INVALIDATE -> CompletionOpcode.LOCAL_INVALIDATE.code();
            case RequestOpcode.BIND_WINDOW -> CompletionOpcode.BIND_WINDOW.code();
            default -> CompletionOpcode.SEND.code();
        };
    }
}
