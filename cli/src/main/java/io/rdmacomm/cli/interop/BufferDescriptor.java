package io.rdmacomm.cli.interop;

/// A buffer that one side offers to the other; [BufferFormat] draws it as it is on the wire.
///
/// @param address the address of the buffer
/// @param length its length in bytes
/// @param key its remote key
record BufferDescriptor(long address, int length, int key) {}
