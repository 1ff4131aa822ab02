package io.rdmacomm.cli.command;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The options for how the session of a command waits for completions, and which threads take them.
public final class ModeOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Spec
    private CommandSpec ownSpec = CommandSpec.create();

    @Option(
            names = "--work-mode",
            paramLabel = "MODE",
            converter = WorkModeConverter.class,
            description = {
                "How a thread waits while nothing completes (default: adaptive):",
                "- polling: it spins. The lowest latency, and a core for each waiting thread.",
                "- completion-channel: it sleeps until the device wakes it. The least CPU time.",
                "- epoll: the same, but with per-queue-pair one thread waits for all channels.",
                "- adaptive: it spins for 20 us, then it sleeps."
            })
    private @Nullable WorkMode work;

    @Option(
            names = "--thread-mode",
            paramLabel = "MODE",
            converter = ThreadModeConverter.class,
            description = {
                "Which threads take completions (default: caller; for `ping --server` shared-cq):",
                "- per-queue-pair: a library thread for each channel.",
                "- shared-cq: one library thread for all channels of the session.",
                "- caller: no library thread. The threads that wait do it themselves."
            })
    private @Nullable ThreadMode thread;

    /// Whether the command line has one of the options.
    public boolean areGiven() {
        return work != null || thread != null;
    }

    /// Rejects both options.
    ///
    /// @param with what they cannot be combined with
    /// @throws ParameterException if one was given
    public void exclude(String with) {
        Excludes.check(spec, with, ownSpec);
    }

    /// Replaces the modes of `options` by those that were given.
    public SessionOptions apply(SessionOptions options) {
        SessionOptions withWork = work == null ? options : options.withWorkMode(work);
        return thread == null ? withWork : withWork.withThreadMode(thread);
    }

    /// Reads a work mode.
    static final class WorkModeConverter implements ITypeConverter<WorkMode> {
        /// For picocli.
        WorkModeConverter() {}

        @Override
        public WorkMode convert(String text) {
            return ChoiceText.parse(WorkMode.class, text);
        }
    }

    /// Reads a thread mode.
    static final class ThreadModeConverter implements ITypeConverter<ThreadMode> {
        /// For picocli.
        ThreadModeConverter() {}

        @Override
        public ThreadMode convert(String text) {
            return ChoiceText.parse(ThreadMode.class, text);
        }
    }
}
