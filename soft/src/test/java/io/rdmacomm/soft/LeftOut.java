package io.rdmacomm.soft;

import org.opentest4j.TestAbortedException;

/// Leaves out a case that this machine cannot run, and prints the line that `./check` repeats at its end.
public final class LeftOut {
    private LeftOut() {}

    /// The exception that ends the calling case as skipped.
    ///
    /// @param why the machine cannot run it
    public static TestAbortedException because(Class<?> test, String why) {
        System.out.println("SKIPPED, " + test.getSimpleName() + ": " + why);
        return new TestAbortedException(why);
    }
}
