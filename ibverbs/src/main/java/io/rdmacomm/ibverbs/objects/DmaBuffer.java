package io.rdmacomm.ibverbs.objects;

/// A part of a DMA buffer.
///
/// @param file the file descriptor of the buffer
/// @param offset where the part begins in the buffer
/// @param length in bytes
/// @param address the address of its first byte in requests
record DmaBuffer(int file, long offset, long length, long address) {}
