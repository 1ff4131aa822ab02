package io.rdmacomm.cli.copy;

/// Follows the progress of a file copy.
interface CopyProgress {
    /// The data of a file begins.
    ///
    /// @param size its length
    /// @param there the bytes that the receiver already has
    void onBegin(String name, long size, long there);

    /// This many bytes of the current file are done, including those that the receiver already had.
    void onProgress(long bytes);

    /// The file is complete at the receiver, and its checksum is correct.
    ///
    /// @param name the name that it has there
    void onDone(String name, long size);

    /// The file was skipped; that is not a failure.
    void onSkipped(String name, String why);

    /// The file could not be copied; the reason is one line.
    void onFailed(String name, String reason);

    /// The permissions or the time of a file or directory could not be set.
    void onWarning(String name, String reason);
}
