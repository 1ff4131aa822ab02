package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;

/// Frees things one after another, all of them, even if one fails.
public final class Closer {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(Closer.class);

    private Closer() {}

    /// Runs one step; what it throws is logged and goes no further.
    public static void step(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException | Error e) {
            LOGGER.log(Level.WARNING, "freeing " + what + " failed", e);
        }
    }
}
