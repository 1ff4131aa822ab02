package io.rdmacomm.mesh.collective;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The collective operations of a mesh. All ranks call the same ones in the same order with the same arguments;
/// each call blocks until this rank has its result and the caller may reuse its memory. Other ranks may still be in
/// the call then, except after [#barrier].
///
/// ```java
/// Collectives collectives = mesh.collectives();
/// double[] gradients = ...;
/// collectives.allReduce(Elements.of(gradients), Reduction.SUM, Duration.ofSeconds(30));
/// ```
///
/// The data that ranks get must be in [MeshBuffer]s on all of them, or on none; offsets and buffers may differ.
///
/// **Threads.** One thread at a time: a second call while one is running throws [IllegalStateException]. So
/// does a call in a handler of the session, which would wait for itself; call it in another thread. Neither
/// has an effect on the collectives. In thread mode CALLER the thread in the call polls the session.
///
/// **Results.** Integers are exact. All-reduce and broadcast give bitwise the same result on every rank, whatever
/// the algorithm and the timing, except for the bits of NaN after an all-reduce by recursive doubling. The order
/// in which numbers are combined depends on the algorithm, the number of ranks and the length alone, so the same
/// call gives the same result each time.
///
/// **Failures.** Besides [IllegalArgumentException] for arguments that do not fit each other, and for a
/// timeout that is not 1 ms to 24 h, which concern this rank only, all methods throw:
/// - [CollectiveMismatchException] if two ranks call different collectives, or have different
///   [CollectiveOptions];
/// - [io.rdmacomm.verbs.DeadlineException] if the call has not ended in time; the message names a rank that is
///   waited for;
/// - the failure of the mesh if a node dies meanwhile;
/// - [io.rdmacomm.verbs.RdmaInterruptedException] if the thread is interrupted while it sleeps;
/// - [io.rdmacomm.comm.ClosedException] after any of these.
///
/// Each of these ends the collectives of the mesh, on all ranks: the ranks that are in a call, or make one later,
/// fail as well. The content of the call's results is undefined then, and peers that have not noticed yet may
/// still write into its [MeshBuffer]s, until [io.rdmacomm.mesh.Mesh#close()] has returned. Arrays and memory of
/// the program that is not in a [MeshBuffer] are not used any more.
public final class Collectives {
    private static final Elements NOTHING = Elements.of(new byte[0]);

    private final CollectiveEngine engine;
    private final AlgorithmChoice choice;

    private Collectives(CollectiveEngine engine, AlgorithmChoice choice) {
        this.engine = engine;
        this.choice = choice;
    }

    /// The collectives of a group, with the default choice of algorithms. Programs call
    /// [io.rdmacomm.mesh.Mesh#collectives(CollectiveOptions)] instead. To be called once for each group.
    ///
    /// @throws IllegalArgumentException if the channels do not allow messages of that length, or have too few
    ///         receives or too short a send window; the message says what to raise
    /// @throws io.rdmacomm.verbs.VerbException if there is no memory for the slots
    public static Collectives of(CollectiveGroup group, CollectiveOptions options) {
        return new Collectives(new CollectiveEngine(group, options), AlgorithmChoice.defaults());
    }

    /// The options of these collectives.
    public CollectiveOptions options() {
        return engine.options();
    }

    /// The same collectives with another choice of algorithms. All ranks must use the same choice.
    public Collectives with(AlgorithmChoice other) {
        return new Collectives(engine, other);
    }

    /// The choice of algorithms.
    public AlgorithmChoice choice() {
        return choice;
    }

    /// Allocates memory of the same length on all ranks, which all of them can write and read; see
    /// [io.rdmacomm.mesh.Mesh#allocate].
    ///
    /// @param name the same on all ranks
    /// @param bytes the length on each rank, at least 1
    /// @param timeout how long to wait
    public MeshBuffer allocate(String name, long bytes, Duration timeout) {
        Bounds.timeout(timeout);
        return new MeshAllocation(engine, name, bytes).run(timeout);
    }

    /// Waits until all ranks have called it.
    ///
    /// @param timeout how long to wait
    public void barrier(Duration timeout) {
        run(CollectiveKind.BARRIER, 0, NOTHING, NOTHING, false, null, 0, timeout);
    }

    /// Copies the data of one rank to all.
    ///
    /// @param data the input of `root`, and the output of the others; of the same length on all ranks
    /// @param root the rank whose data is copied
    /// @param timeout how long to wait
    public void broadcast(Elements data, int root, Duration timeout) {
        checkRoot(root);
        if (root != engine.rank()) {
            checkWritable(data);
        }
        run(CollectiveKind.BROADCAST, data.count(), data, data, data.isRegistered(), null, root, timeout);
    }

    /// Reduces the data of all ranks to one.
    ///
    /// @param from what each rank gives; of the same length everywhere
    /// @param into what `root` gets: may be `from`; not used on other ranks
    /// @param root the rank that gets the result
    /// @param timeout how long to wait
    public void reduce(Elements from, Elements into, Reduction reduction, int root, Duration timeout) {
        checkRoot(root);
        if (root == engine.rank()) {
            checkPair(from, into, from.count(), into.count());
            checkSameOrApart(from, into, from.isSame(into));
        }
        run(CollectiveKind.REDUCE, from.count(), from, into, false, reduction, root, timeout);
    }

    /// Reduces the data of all ranks to all.
    ///
    /// @param from what each rank gives; of the same length everywhere
    /// @param into what each rank gets: may be `from`
    /// @param timeout how long to wait
    public void allReduce(Elements from, Elements into, Reduction reduction, Duration timeout) {
        checkPair(from, into, from.count(), into.count());
        checkSameOrApart(from, into, from.isSame(into));
        run(CollectiveKind.ALL_REDUCE, from.count(), from, into, into.isRegistered(), reduction, 0, timeout);
    }

    /// Reduces the data of all ranks in place.
    ///
    /// @param data what each rank gives and gets
    /// @param timeout how long to wait
    public void allReduce(Elements data, Reduction reduction, Duration timeout) {
        allReduce(data, data, reduction, timeout);
    }

    /// Gives each rank the data of all, by rank.
    ///
    /// @param from what each rank gives; of the same length everywhere
    /// @param into one block of that length for each rank; `from` may be the block of this rank in it
    /// @param timeout how long to wait
    public void allGather(Elements from, Elements into, Duration timeout) {
        long count = Math.multiplyExact(from.count(), engine.size());
        checkPair(from, into, count, into.count());
        checkSameOrApart(from, into, isOwnBlock(from, into));
        run(CollectiveKind.ALL_GATHER, count, from, into, into.isRegistered(), null, 0, timeout);
    }

    /// Reduces the data of all ranks, and gives each rank one block of the result.
    ///
    /// @param from what each rank gives: one block for each rank, of the same length
    /// @param into one block, which becomes block `rank` of the result; may be that block of `from`
    /// @param timeout how long to wait
    public void reduceScatter(Elements from, Elements into, Reduction reduction, Duration timeout) {
        checkPair(from, into, from.count(), Math.multiplyExact(into.count(), engine.size()));
        checkSameOrApart(from, into, isOwnBlock(into, from));
        run(CollectiveKind.REDUCE_SCATTER, from.count(), from, into, false, reduction, 0, timeout);
    }

    /// Gives each rank a block of each: block `j` of rank `i` becomes block `i` of rank `j`.
    ///
    /// @param from one block for each rank, of the same length
    /// @param into as long as `from`, in other memory
    /// @param timeout how long to wait
    public void allToAll(Elements from, Elements into, Duration timeout) {
        checkPair(from, into, from.count(), into.count());
        checkSameOrApart(from, into, false);
        if (from.count() % engine.size() != 0) {
            throw new IllegalArgumentException(
                    from + " are not the same number for each of " + engine.size() + " ranks");
        }
        boolean registered = from.isRegistered() && into.isRegistered();
        run(CollectiveKind.ALL_TO_ALL, from.count(), from, into, registered, null, 0, timeout);
    }

    /// Reduces an array in place; see [#allReduce(Elements, Reduction, Duration)].
    public void allReduce(double[] data, Reduction reduction, Duration timeout) {
        allReduce(Elements.of(data), reduction, timeout);
    }

    /// Reduces an array in place; see [#allReduce(Elements, Reduction, Duration)].
    public void allReduce(float[] data, Reduction reduction, Duration timeout) {
        allReduce(Elements.of(data), reduction, timeout);
    }

    /// Reduces an array in place; see [#allReduce(Elements, Reduction, Duration)].
    public void allReduce(long[] data, Reduction reduction, Duration timeout) {
        allReduce(Elements.of(data), reduction, timeout);
    }

    /// Reduces an array in place; see [#allReduce(Elements, Reduction, Duration)].
    public void allReduce(int[] data, Reduction reduction, Duration timeout) {
        allReduce(Elements.of(data), reduction, timeout);
    }

    private void run(
            CollectiveKind kind,
            long count,
            Elements from,
            Elements into,
            boolean registered,
            @Nullable Reduction reduction,
            int root,
            Duration timeout) {
        Bounds.timeout(timeout);
        checkBuffer(from.buffer());
        checkBuffer(into.buffer());
        if (reduction != null && from.type() == ElementType.BYTE) {
            throw new IllegalArgumentException("bytes cannot be reduced; use INT, LONG, FLOAT or DOUBLE");
        }
        Algorithm algorithm =
                choice.algorithm(kind, engine.size(), count * from.type().bytes());
        engine.run(kind, algorithm, count, from, into, registered, reduction, root, timeout);
    }

    private void checkBuffer(@Nullable MeshBuffer buffer) {
        if (buffer != null && !buffer.isUsableIn(engine)) {
            throw new IllegalArgumentException(buffer + " is closed, or of another mesh");
        }
    }

    private void checkRoot(int root) {
        Bounds.range("root", root, 0, engine.size() - 1);
    }

    private static void checkPair(Elements from, Elements into, long fromCount, long intoCount) {
        if (from.type() != into.type() || fromCount != intoCount) {
            throw new IllegalArgumentException(from + " do not fit " + into);
        }
        checkWritable(into);
    }

    private static void checkWritable(Elements into) {
        if (into.segment().isReadOnly()) {
            throw new IllegalArgumentException(into + " are read-only");
        }
    }

    private static void checkSameOrApart(Elements from, Elements into, boolean inPlace) {
        if (!inPlace && from.overlaps(into)) {
            throw new IllegalArgumentException(from + " overlap " + into);
        }
    }

    /// Whether a block is that of this rank in `all`.
    private boolean isOwnBlock(Elements block, Elements all) {
        MemorySegment own = all.segment().asSlice(engine.rank() * block.bytes(), block.bytes());
        return own.equals(block.segment());
    }
}
