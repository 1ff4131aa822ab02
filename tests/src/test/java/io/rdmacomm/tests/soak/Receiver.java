package io.rdmacomm.tests.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import java.lang.invoke.VarHandle;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The receives of one side of a link and its window, the memory that the peer writes into: compares all that comes
/// from the peer with the peer's plan. For the thread of the link, except where a method says otherwise.
final class Receiver {
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private final Shape shape;
    private final Shape.Style style;
    private final Plan plan;
    private final MemoryRegion window;
    private final Inbox inbox;
    private final Completions completions;
    private final Tally tally;
    private final Consumer<String> violations;

    /// The next message of the peer.
    private long expected;
    private boolean held;
    private volatile boolean revoked;

    /// @param plan the requests of the peer
    /// @param completions what the link has polled
    /// @param violations is told each violated rule
    Receiver(
            Shape shape,
            Shape.Style style,
            Plan plan,
            MemoryRegion window,
            Inbox inbox,
            Completions completions,
            Tally tally,
            Consumer<String> violations) {
        this.shape = shape;
        this.style = style;
        this.plan = plan;
        this.window = window;
        this.inbox = inbox;
        this.completions = completions;
        this.tally = tally;
        this.violations = violations;
        Content.fill(window.segment(), shape.constantAt(), shape.slot(), plan.constantKey(), 0);
        window.segment().asSlice(shape.wordAt(), 128).fill((byte) 0);
    }

    /// Posts all receives, unless the queue is shared and has them already.
    void start() {
        for (int place = 0; !style.shared() && place < shape.receives(); place++) {
            inbox.post(place);
        }
    }

    /// Takes completion `i`, and posts its receive again unless that would be flushed.
    ///
    /// @param failure why the queue pair has failed; null while it has not
    void completed(int i, @Nullable String failure) {
        long id = completions.workId(i);
        boolean success = completions.isSuccess(i);
        String wrong = inbox.completed(id, !style.shared());
        if (wrong != null && failure != null && !held && wrong.startsWith("wrong")) {
            // The peer was stopped, or got no processor, while it held this receive (decision 38). It ends with success
            // if the peer goes on and completes it.
            held = true;
        } else if (wrong != null) {
            violations.accept(wrong + " with " + completions.status(i) + " after " + failure);
        }
        if (success) {
            received(i, inbox.place(id));
        }
        if (style.shared() || failure == null) {
            inbox.post(inbox.place(id));
        }
    }

    private void received(int i, int place) {
        if (completions.hasImmediate(i) && completions.immediate(i) == Plan.CONFIRMING) {
            return;
        }
        long number = expected;
        while (!plan.kind(number).notifies()) {
            number++;
        }
        String wrong = difference(i, place, number);
        if (wrong != null) {
            number = explain(i, place, number, wrong);
        }
        for (long earlier = expected; earlier < number && !revoked; earlier++) {
            if (plan.kind(earlier).writes()) {
                checkWindow(earlier);
            }
        }
        expected = number + 1;
        boolean counted = plan.kind(number).writes();
        tally.message(counted ? 0 : plan.length(number));
    }

    /// Compares a completion with message `number`.
    private @Nullable String difference(int i, int place, long number) {
        Kind kind = plan.kind(number);
        int length = plan.length(number);
        boolean write = kind == Kind.WRITE_WITH_IMMEDIATE;
        CompletionOpcode opcode = write ? CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE : CompletionOpcode.RECEIVE;
        if (completions.opcode(i) != opcode || completions.byteLength(i) != length) {
            return kind + " of " + length + " bytes arrived as " + completions.opcode(i) + " of "
                    + completions.byteLength(i);
        }
        boolean immediate = write || kind == Kind.SEND_WITH_IMMEDIATE;
        if (completions.hasImmediate(i) != immediate
                || (immediate && completions.immediate(i) != plan.immediate(number))) {
            return kind + " has immediate value " + completions.immediate(i) + " instead of " + number;
        }
        if (write) {
            if (!revoked) {
                checkWindow(number);
            }
            return null;
        }
        if (!inbox.isGuarded(place)) {
            return "the bytes after the receive of " + kind + " have changed";
        }
        long at = Content.wrong(inbox.memory(), inbox.at(place), length, plan.key(number), 0);
        return at < 0 ? null : kind + " of " + length + " bytes is wrong from byte " + at;
    }

    /// Finds out whether it is another message than the expected one. Returns its number.
    private long explain(int i, int place, long number, String wrong) {
        for (long other = Math.max(0, number - shape.window()); other < number + shape.window(); other++) {
            boolean telling = plan.length(other) >= 8 || plan.kind(other) == Kind.SEND_WITH_IMMEDIATE;
            if (other != number
                    && plan.kind(other).notifies()
                    && plan.kind(other) != Kind.WRITE_WITH_IMMEDIATE
                    && telling
                    && difference(i, place, other) == null) {
                violations.accept((other < number ? "doubled: message " : "lost: before message ") + other
                        + ", expected " + number);
                return Math.max(number, other);
            }
        }
        violations.accept("wrong: message " + number + ": " + wrong);
        return number;
    }

    private void checkWindow(long number) {
        try {
            int length = plan.length(number);
            long at = Content.wrong(window.segment(), shape.slotAt(number), length, plan.key(number), 0);
            if (at >= 0 && !revoked) {
                violations.accept(
                        "wrong: " + plan.kind(number) + " " + number + " of " + length + " bytes, from byte " + at);
            }
            if (!Content.isGuarded(window.segment(), shape.slotAt(number) + shape.slot()) && !revoked) {
                violations.accept("wrong: the bytes after slot " + shape.index(number) + " of the window have changed");
            }
            tally.bytes(length);
        } catch (IllegalStateException e) {
            if (!revoked) {
                throw e;
            }
        }
    }

    /// Reads how many messages the peer has confirmed; empty if the word in the window does not tell.
    OptionalInt confirmation() {
        try {
            long word = revoked ? 0 : (long) LONG.getAcquire(window.segment(), shape.confirmationAt());
            int count = (int) word;
            boolean whole = word != 0 && count == ~(int) (word >>> 32);
            return whole && !revoked ? OptionalInt.of(count) : OptionalInt.empty();
        } catch (IllegalStateException e) {
            if (!revoked) {
                throw e;
            }
            return OptionalInt.empty();
        }
    }

    /// Checks the state after the last message. From any thread.
    ///
    /// @param count messages of the peer
    /// @param word the value that the word for atomics must have
    void checkAll(long count, long word) {
        long real = (long) LONG.getAcquire(window.segment(), shape.wordAt());
        if (real != word || expected != count) {
            violations.accept("wrong: the word for atomics is " + real + " instead of " + word + ", messages "
                    + expected + " of " + count);
        }
        if (Content.wrong(window.segment(), shape.constantAt(), shape.slot(), plan.constantKey(), 0) >= 0) {
            violations.accept("wrong: memory that is only read has changed");
        }
    }

    /// Closes the window, once, even while the peer writes into it. From any thread.
    void revoke() {
        if (!revoked) {
            revoked = true;
            window.close();
            if (style.ownWindow()) {
                Content.fill(window.segment(), 0, window.length(), Content.UNTOUCHED_KEY, 0);
            }
        }
    }

    /// Looks for a receive that a shared queue has lost.
    void checkLost() {
        String lost = style.shared() ? inbox.ledger().lost() : null;
        if (lost != null) {
            violations.accept(lost);
        }
    }

    /// Returns whether all receives have ended. Those of a shared queue go on for other links.
    boolean isOver() {
        return style.shared() || inbox.ledger().outstanding() == 0;
    }

    long expected() {
        return expected;
    }

    @Override
    public String toString() {
        return "received " + expected + ", receives " + inbox.ledger().outstanding();
    }
}
