package io.rdmacomm.cli.interop;

/// What a copied string came to; it came back as it was sent.
///
/// @param bytes how long the string is in UTF-8
/// @param writeNanos how long the WRITE into the server's buffer took
/// @param readNanos how long it took to READ it back
public record StringCopyResult(int bytes, long writeNanos, long readNanos) {}
