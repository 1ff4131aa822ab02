package io.rdmacomm.cli.command;

/// Frees resources if the next step fails.
public final class OnFailure {
    private OnFailure() {}

    /// The next step.
    ///
    /// @param <T> its result
    /// @param <E> what it may throw
    @FunctionalInterface
    public interface Step<T, E extends Exception> {
        /// Takes the step.
        T run() throws E;
    }

    /// Takes the next step.
    ///
    /// @param free runs if the step fails
    public static <T, E extends Exception> T run(Runnable free, Step<T, E> next) throws E {
        boolean done = false;
        try {
            T made = next.run();
            done = true;
            return made;
        } finally {
            if (!done) {
                free.run();
            }
        }
    }
}
