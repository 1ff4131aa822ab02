package io.rdmacomm.mesh.collective;

/// The trees over a number of ranks. They are the same on all ranks. Immutable.
///
/// @param binary the first binary tree
/// @param second the second binary tree
/// @param chain each position is the parent of the next one
record RankTrees(Tree binary, Tree second, Tree chain) {
    static RankTrees of(int size) {
        return new RankTrees(Tree.binary(size), Tree.secondBinary(size), Tree.chain(size));
    }
}
