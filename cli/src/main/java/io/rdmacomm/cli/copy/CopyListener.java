package io.rdmacomm.cli.copy;

/// Told how a file copy goes on.
public interface CopyListener {
    /// A file begins.
    void onBegin(String name, long size);

    /// So much of it is done.
    void onProgress(long bytes);

    /// It is complete at the receiver, and its checksum is right.
    void onDone(String name, long size, long nanos);

    /// It is not; the reason is one line.
    void onFailed(String name, String reason);
}
