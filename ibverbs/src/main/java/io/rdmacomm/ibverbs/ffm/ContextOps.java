package io.rdmacomm.ibverbs.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The verbs that are `static inline` in C and have no symbol. As in C, they call through the function pointers of
/// the object's `struct ibv_context`, `ops`, which each driver fills in when its device is opened.
///
/// This is the data path: it allocates nothing, and returns the results of C unchanged. Thread-safe.
public final class ContextOps {
    /// Polling only reads memory and ends within nanoseconds, so the call can be `critical`: the thread skips the
    /// native state and its safepoint check, which saves most of the cost of the call.
    private static final boolean POLL_IS_CRITICAL = true;
    /// Arming is a system call on software devices.
    private static final boolean NOTIFY_IS_CRITICAL = false;

    private static final MethodHandle POLL =
            link(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG), POLL_IS_CRITICAL);
    private static final FunctionDescriptor POSTING = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle POST = link(POSTING, false);
    private static final MethodHandle POST_CRITICAL = link(POSTING, true);
    private static final MethodHandle NOTIFY =
            link(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT), NOTIFY_IS_CRITICAL);

    private final boolean postIsCritical;
    private final MemorySegment allocateWindow;
    private final MemorySegment bindWindow;
    private final MemorySegment deallocateWindow;
    private final MemorySegment poll;
    private final MemorySegment requestNotify;
    private final MemorySegment postSharedReceive;
    private final MemorySegment postSend;
    private final MemorySegment postReceive;

    /// Reads the function pointers of an open device.
    ///
    /// Posting rings a doorbell. On a network card this is a store, so the call can be critical, too. Some drivers
    /// ring it with a system call that may execute the whole transfer; a safepoint of the JVM would have to wait
    /// for a critical call.
    ///
    /// @param context the address of its `struct ibv_context`
    /// @param postIsCritical whether a post is a few stores and not a system call
    public ContextOps(long context, boolean postIsCritical) {
        this.postIsCritical = postIsCritical;
        MemorySegment struct = NativeMemory.at(context, ContextLayout.BYTES);
        allocateWindow = struct.get(ADDRESS, ContextLayout.ALLOC_WINDOW);
        bindWindow = struct.get(ADDRESS, ContextLayout.BIND_WINDOW);
        deallocateWindow = struct.get(ADDRESS, ContextLayout.DEALLOC_WINDOW);
        poll = struct.get(ADDRESS, ContextLayout.POLL);
        requestNotify = struct.get(ADDRESS, ContextLayout.REQUEST_NOTIFY);
        postSharedReceive = struct.get(ADDRESS, ContextLayout.POST_SHARED_RECEIVE);
        postSend = struct.get(ADDRESS, ContextLayout.POST_SEND);
        postReceive = struct.get(ADDRESS, ContextLayout.POST_RECEIVE);
    }

    /// Polls completions (ibv_poll_cq(3)).
    ///
    /// @param completions room for `max` `struct ibv_wc`
    /// @return how many there were; negative if the queue is broken
    public int poll(long queue, int max, long completions) {
        try {
            return (int) POLL.invokeExact(poll, queue, max, completions);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Asks for an event at the next completion (ibv_req_notify_cq(3)).
    ///
    /// @param solicitedOnly 0 or 1
    /// @return 0 or an errno, which some drivers return as a negative number
    public int requestNotify(long queue, int solicitedOnly) {
        try {
            return (int) NOTIFY.invokeExact(requestNotify, queue, solicitedOnly);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /// Posts a chain of `struct ibv_send_wr` (ibv_post_send(3)).
    ///
    /// @param bad the address of a pointer that is set to the first request that was not posted
    /// @return 0 or an errno, which some drivers return as a negative number
    public int postSend(long queuePair, long requests, long bad) {
        return post(postSend, queuePair, requests, bad);
    }

    /// Posts a chain of `struct ibv_recv_wr` (ibv_post_recv(3)); see [#postSend(long, long, long)].
    ///
    /// @return 0 or an errno, which some drivers return as a negative number
    public int postReceive(long queuePair, long requests, long bad) {
        return post(postReceive, queuePair, requests, bad);
    }

    /// Posts a chain of `struct ibv_recv_wr` (ibv_post_srq_recv(3)); see [#postSend(long, long, long)].
    ///
    /// @return 0 or an errno, which some drivers return as a negative number
    public int postSharedReceive(long queue, long requests, long bad) {
        return post(postSharedReceive, queue, requests, bad);
    }

    /// Allocates a memory window (ibv_alloc_mw(3)); control path.
    ///
    /// @return its address, or minus the errno
    public long allocateWindow(long domain, int type) {
        return Calls.pointer(allocateWindow, domain, type);
    }

    /// Binds a window of type 1 (ibv_bind_mw(3)); control path.
    ///
    /// @param binding a `struct ibv_mw_bind`
    /// @return 0 or the errno
    public int bindWindow(long queuePair, long window, long binding) {
        return Calls.number(bindWindow, queuePair, window, binding);
    }

    /// Frees a memory window (ibv_dealloc_mw(3)); control path.
    ///
    /// @return 0 or the errno
    public int deallocateWindow(long window) {
        return Calls.number(deallocateWindow, window);
    }

    private int post(MemorySegment function, long queue, long requests, long bad) {
        try {
            return postIsCritical
                    ? (int) POST_CRITICAL.invokeExact(function, queue, requests, bad)
                    : (int) POST.invokeExact(function, queue, requests, bad);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @SuppressWarnings("restricted") // the descriptors are those of the C headers
    private static MethodHandle link(FunctionDescriptor descriptor, boolean critical) {
        return critical
                ? Linker.nativeLinker().downcallHandle(descriptor, Linker.Option.critical(false))
                : Linker.nativeLinker().downcallHandle(descriptor);
    }
}
