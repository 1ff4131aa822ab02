package io.rdmacomm.comm.setup;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// Frees things one after another, all of them, even if one fails.
public final class Closer {
    private static final Logger LOGGER = System.getLogger(Closer.class.getPackageName());

    private Closer() {}

    /// Runs one step; an exception is logged and goes no further.
    public static void step(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException e) {
            LOGGER.log(Level.WARNING, "freeing " + what + " failed", e);
        }
    }
}
