package io.rdmacomm.cli.copy;

/// Follows the progress of a file copy.
public interface CopyProgress {
    /// A file begins.
    void onBegin(String name, long size);

    /// So many bytes of the file are done.
    void onProgress(long bytes);

    /// The file is complete at the receiver, and its checksum is correct.
    void onDone(String name, long size, long nanos);

    /// The file could not be copied; the reason is one line.
    void onFailed(String name, String reason);
}
