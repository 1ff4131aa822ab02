package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// A bell in the control file of a context: threads of the context sleep at it, and peers ring it for the completion
/// queues that were armed with it. So a sleeping thread is woken once, by the first completion, and a thread that is
/// awake is not woken at all (docs/decisions/0105-a-bell-for-those-who-sleep.md).
///
/// ```
/// +0 word: changes << 2 | who sleeps, 4 bytes | +8 rung: a bit for each queue, by its number modulo 64
/// ```
///
/// A thread that is about to sleep says so in the word, and then reads the bits. A peer sets the bit first, and then
/// reads the word: one of them sees the other. Each of them changes the count in the word, so a thread whose bell is
/// rung between these steps and its sleep does not fall asleep (futex(2)).
///
/// Nothing here is trusted. A bell that rings for nothing costs its owner one look. A bell that fails to ring costs a
/// second: the engine checks the queues once a second while threads sleep.
public final class Bell {
    /// Who sleeps: a thread that [io.rdmacomm.soft.linux.Futex] wakes.
    public static final int IN_KERNEL = 1;
    /// Who sleeps: a thread that waits for a message to its context's engine.
    public static final int FOR_MESSAGE = 2;

    private static final int BYTES = ControlLayout.LINE;
    private static final int RUNG = 8;
    private static final int SLEEPERS = IN_KERNEL | FOR_MESSAGE;
    private static final int CHANGE = SLEEPERS + 1;
    /// No thread loses this many races for a word, unless a faulty process keeps changing it.
    private static final int ROUNDS = 1 << 10;

    private static final int OFFSET_SHIFT = 8;
    private static final int QUEUE_SHIFT = 2;
    /// The number of bits.
    public static final int QUEUES = 64;

    private final MemorySegment memory;
    private final long offset;

    private Bell(MemorySegment memory, long offset) {
        this.memory = memory;
        this.offset = offset;
    }

    /// Creates a bell. It is never freed, because a peer may ring it much later.
    ///
    /// @throws IOException if there is no room
    public static Bell create(ControlFile file) throws IOException {
        return new Bell(file.memory(), file.allocate(BYTES));
    }

    /// Where it is in its control file.
    public long offset() {
        return offset;
    }

    /// The part of an armed queue's word that names this bell, or none.
    ///
    /// @param queue number of the queue
    static long name(long bell, int queue) {
        return bell << OFFSET_SHIFT | (long) (queue & QUEUES - 1) << QUEUE_SHIFT;
    }

    /// Where the bell is that an armed queue's word names; 0 if it names none, and the owner wants a message for each
    /// event.
    public static long named(long armed) {
        long bell = armed >>> OFFSET_SHIFT;
        return ControlLayout.isInHeap(bell, BYTES) ? bell : 0;
    }

    /// Rings the bell at [#named(long)] for the queue of this word; any process.
    ///
    /// @return who slept there and has to be woken
    public static int ring(MemorySegment memory, long armed) {
        long bell = named(armed);
        SharedWords.setBits(memory, bell + RUNG, 1L << (armed >>> QUEUE_SHIFT & QUEUES - 1));
        return call(memory, bell);
    }

    /// Changes the word if a thread sleeps in the kernel. All of those are woken then. A message may wake only some
    /// of the threads that wait for one, so the word keeps saying that they do.
    ///
    /// @return who sleeps
    private static int call(MemorySegment memory, long bell) {
        for (int round = 0; round < ROUNDS; round++) {
            int word = SharedWords.currentInt(memory, bell);
            int sleepers = word & SLEEPERS;
            if ((word & IN_KERNEL) == 0
                    || SharedWords.compareAndSetInt(memory, bell, word, (word & ~IN_KERNEL) + CHANGE)) {
                return sleepers;
            }
        }
        return SLEEPERS;
    }

    /// Says that a thread is about to sleep, unless the bell [is rung][#isRung()]; its owner.
    ///
    /// @param kind [#IN_KERNEL] or [#FOR_MESSAGE]
    /// @return the word that it sleeps for
    public int enter(int kind) {
        int word = 0;
        for (int round = 0; round < ROUNDS; round++) {
            int now = SharedWords.currentInt(memory, offset);
            word = (now | kind) + CHANGE;
            if (SharedWords.compareAndSetInt(memory, offset, now, word)) {
                break;
            }
        }
        return word;
    }

    /// The word, for [#nobodySleeps].
    public int word() {
        return SharedWords.currentInt(memory, offset);
    }

    /// Says that nobody sleeps, unless the word has changed; its owner.
    ///
    /// @param word when nobody slept
    public void nobodySleeps(int word) {
        if ((word & SLEEPERS) != 0) {
            SharedWords.compareAndSetInt(memory, offset, word, word & ~SLEEPERS);
        }
    }

    /// Keeps threads of this context that are about to sleep from it; any of its threads.
    public void call() {
        var _ = call(memory, offset);
    }

    /// Whether a queue has rung since [#take()].
    public boolean isRung() {
        return SharedWords.current(memory, offset + RUNG) != 0;
    }

    /// Takes the bits of the queues that have rung.
    public long take() {
        return isRung() ? SharedWords.getAndSet(memory, offset + RUNG, 0) : 0;
    }
}
