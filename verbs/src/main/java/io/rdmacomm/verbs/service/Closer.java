package io.rdmacomm.verbs.service;

import java.lang.System.Logger.Level;

/// Frees resources one after another, even if one fails.
public final class Closer {
    private static final SafeLogger LOGGER = SafeLogger.of(Closer.class);

    private Closer() {}

    /// Runs one step; its exceptions are logged and not thrown.
    ///
    /// @param what the object, for the log
    public static void step(Object what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException | Error e) {
            failed(what, e);
        }
    }

    /// Logs the exception of a step.
    public static void failed(Object what, Throwable why) {
        LOGGER.log(Level.WARNING, () -> "freeing " + what + " failed", why);
    }
}
