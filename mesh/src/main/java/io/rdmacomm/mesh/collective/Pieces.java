package io.rdmacomm.mesh.collective;

/// Reduces pieces on their way between lanes and memory. An intermediate result goes directly into the slot that is
/// sent next, never to the caller's memory.
final class Pieces {
    private Pieces() {}

    /// Sends the reduction of a piece of `from` and the next piece of `in`.
    static void reduceAndSend(Lane in, Lane out, Reducer reducer, Elements from, long offset, int bytes) {
        in.await(bytes);
        long to = out.claim();
        reducer.combine(in.data(), in.dataOffset(), from.segment(), offset, out.room(), to, bytes);
        in.release();
        out.sendClaimed(bytes);
    }

    /// Sends the reduction of a piece of `from` and the next pieces of `first` and `second`.
    static void reduceAndSend(
            Lane first, Lane second, Lane out, Reducer reducer, Elements from, long offset, int bytes) {
        first.await(bytes);
        long to = out.claim();
        reducer.combine(first.data(), first.dataOffset(), from.segment(), offset, out.room(), to, bytes);
        first.release();
        second.await(bytes);
        reducer.combine(second.data(), second.dataOffset(), out.room(), to, out.room(), to, bytes);
        second.release();
        out.sendClaimed(bytes);
    }

    /// Stores the reduction of a piece of `from` and the next piece of `in` in `into`.
    ///
    /// @param intoOffset the offset in `into`
    static void reduceInto(
            Lane in, Reducer reducer, Elements from, long offset, Elements into, long intoOffset, int bytes) {
        in.await(bytes);
        reducer.combine(in.data(), in.dataOffset(), from.segment(), offset, into.segment(), intoOffset, bytes);
        in.release();
    }
}
