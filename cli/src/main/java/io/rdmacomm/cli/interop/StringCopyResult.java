package io.rdmacomm.cli.interop;

/// The figures of a copied string, which came back unchanged.
///
/// @param bytes the length of the string in UTF-8
/// @param writeNanos how long the WRITE into the server's buffer took
/// @param readNanos how long it took to READ it back
public record StringCopyResult(int bytes, long writeNanos, long readNanos) {}
