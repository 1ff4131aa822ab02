package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.ChoiceText;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The modes of the sessions at both ends of a measurement.
///
/// @param work how a thread waits for completions
/// @param thread which threads take completions
public record Modes(WorkMode work, ThreadMode thread) {
    /// Modes in which no thread polls, without a library thread.
    public static final Modes SLEEPING = new Modes(WorkMode.COMPLETION_CHANNEL, ThreadMode.CALLER);

    private static final List<WorkMode> WORK_MODES = List.of(WorkMode.values());
    private static final List<ThreadMode> THREAD_MODES = List.of(ThreadMode.values());

    /// All combinations.
    public static List<Modes> all() {
        List<Modes> all = new ArrayList<>();
        WORK_MODES.forEach(work -> THREAD_MODES.forEach(thread -> all.add(new Modes(work, thread))));
        return all;
    }

    /// The number of `modes` on the wire: 0 if there are none.
    public static long code(@Nullable Modes modes) {
        return modes == null ? 0 : all().indexOf(modes) + 1L;
    }

    /// The modes with this number; null if it is 0.
    ///
    /// @throws CommandFailure if there are none
    public static @Nullable Modes of(long code) {
        List<Modes> all = all();
        if (code < 0 || code > all.size()) {
            throw new CommandFailure("there are no modes with number " + code + ": run the same version on both sides");
        }
        return code == 0 ? null : all.get((int) code - 1);
    }

    /// `options` with these modes.
    public SessionOptions apply(SessionOptions options) {
        return options.withWorkMode(work).withThreadMode(thread);
    }

    /// Adds the names of the modes to a JSON object.
    public void addTo(Map<String, Object> members) {
        members.put("work_mode", ChoiceText.of(work));
        members.put("thread_mode", ChoiceText.of(thread));
    }

    @Override
    public String toString() {
        return "work mode " + ChoiceText.of(work) + ", thread mode " + ChoiceText.of(thread);
    }
}
