package io.rdmacomm.comm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/// Frees things one after the other, all of them, even if one fails.
final class Closer {
    private static final Logger LOGGER = System.getLogger(Closer.class.getPackageName());

    private Closer() {}

    /// Runs one step; what it throws is logged and goes no further.
    static void step(String what, Runnable close) {
        try {
            close.run();
        } catch (RuntimeException e) {
            LOGGER.log(Level.WARNING, "freeing " + what + " failed", e);
        }
    }
}
