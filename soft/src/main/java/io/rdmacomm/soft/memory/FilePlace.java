package io.rdmacomm.soft.memory;

import io.rdmacomm.soft.mapped.MappedFile;

/// The memory of a region in a file that peers map.
///
/// @param mapped the file
/// @param number its number, by which peers find it; negative for a file of the program
/// @param key the key whose entry in the key table stands for the file
/// @param offset where in the file the region begins
public record FilePlace(MappedFile mapped, long number, int key, long offset) {}
