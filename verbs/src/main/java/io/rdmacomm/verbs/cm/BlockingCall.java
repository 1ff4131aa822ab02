package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.RdmaInterruptedException;
import org.jspecify.annotations.Nullable;

/// A call of a driver that blocks.
///
/// @param <T> the type of its result
interface BlockingCall<T extends @Nullable Object> {
    /// Makes the call.
    T make() throws InterruptedException;

    /// Makes a call for a user.
    ///
    /// @param activity for the message, for example `connecting by`
    /// @param object for the message, for example the route
    /// @throws RdmaInterruptedException if the thread was interrupted
    static <T extends @Nullable Object> T of(String activity, Object object, BlockingCall<T> call) {
        try {
            return call.make();
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while " + activity + " " + object, e);
        }
    }
}
