package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;

/// Frees resources one after another, even if one fails.
public final class Closer {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Closer.class);

    private Closer() {}

    /// Runs one step; its exceptions are logged and not thrown.
    public static void step(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException | Error e) {
            LOGGER.log(Level.WARNING, "freeing " + what + " failed", e);
        }
    }
}
