package io.rdmacomm.cli.copy;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The option for files that exist at the receiver.
final class ExistingOption {
    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            description =
                    "What happens to a file that exists at the receiver: overwrite it when the new one is complete,"
                            + " skip the new one, update it if size or time differ, or rename the new one to NAME.1, NAME.2 ..."
                            + " (default: overwrite; what `recv` says counts for all of its senders).")
    private @Nullable Existing existing;

    /// The choice; null if none was given.
    @Nullable
    Existing given() {
        return existing;
    }
}
