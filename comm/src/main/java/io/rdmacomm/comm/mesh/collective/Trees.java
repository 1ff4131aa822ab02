package io.rdmacomm.comm.mesh.collective;

/// The trees over a number of ranks. They are the same on all ranks. Immutable.
///
/// @param binary the first binary tree
/// @param second the second binary tree
/// @param chain each position is the parent of the next one
record Trees(Tree binary, Tree second, Tree chain) {
    static Trees of(int size) {
        return new Trees(Tree.binary(size), Tree.secondBinary(size), Tree.chain(size));
    }
}
