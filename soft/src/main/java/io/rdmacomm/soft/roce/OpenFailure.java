package io.rdmacomm.soft.roce;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import org.jspecify.annotations.Nullable;

/// Makes exceptions for a device with RoCE packets that cannot be opened.
final class OpenFailure {
    private OpenFailure() {}

    /// The exception for it.
    ///
    /// @param why the reason, and what to do
    static VerbException of(Errno errno, String why, @Nullable Throwable cause) {
        return new VerbException("open device with transport=roce", errno, why, cause);
    }
}
