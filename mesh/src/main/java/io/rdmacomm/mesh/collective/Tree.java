package io.rdmacomm.mesh.collective;

import java.util.Arrays;

/// A tree over the positions 0 to n-1 with position 0 at its root. A rank's position is its distance from the
/// root's rank. Immutable.
///
/// The binary trees are those of Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast,
/// reduction and scan" (2009): position 0 has one child, and the others form a binary tree in order, in which
/// odd positions are leaves. The second tree is the same with the positions mirrored or shifted by one, so that
/// no position has children in both.
final class Tree {
    /// No position.
    static final int NONE = -1;

    private final int[] parent;
    private final int[] first;
    private final int[] second;
    private final int[] depth;
    private final int height;

    private Tree(int[] parent) {
        this.parent = parent;
        this.first = new int[parent.length];
        this.second = new int[parent.length];
        this.depth = new int[parent.length];
        Arrays.fill(first, NONE);
        Arrays.fill(second, NONE);
        int deepest = 0;
        for (int position = 1; position < parent.length; position++) {
            int above = parent[position];
            if (first[above] == NONE) {
                first[above] = position;
            } else {
                second[above] = position;
            }
            deepest = Math.max(deepest, findDepth(position));
        }
        this.height = deepest;
    }

    /// Sets the depth of a position, from the next one above whose depth is known: in a chain, walking to the root
    /// from each position would take the square of its length.
    private int findDepth(int position) {
        int known = position;
        int steps = 0;
        while (known != 0 && depth[known] == 0) {
            known = parent[known];
            steps++;
        }
        depth[position] = depth[known] + steps;
        return depth[position];
    }

    /// Each position is the parent of the next one.
    static Tree chain(int size) {
        int[] parent = new int[size];
        for (int position = 0; position < size; position++) {
            parent[position] = position - 1;
        }
        return new Tree(parent);
    }

    /// The first binary tree.
    static Tree binary(int size) {
        int[] parent = new int[size];
        parent[0] = NONE;
        for (int position = 1; position < size; position++) {
            parent[position] = inOrderParent(position, size - 1);
        }
        return new Tree(parent);
    }

    /// The second binary tree, in which positions have other places than in the first one.
    static Tree secondBinary(int size) {
        int last = size - 1;
        int[] at = new int[size];
        for (int position = 1; position <= last; position++) {
            at[place(position, last)] = position;
        }
        int[] parent = new int[size];
        parent[0] = NONE;
        for (int position = 1; position <= last; position++) {
            parent[position] = at[inOrderParent(place(position, last), last)];
        }
        return new Tree(parent);
    }

    /// The place of a position of the second tree in the first: odd becomes even, except at most once.
    private static int place(int position, int last) {
        return last % 2 == 0 ? last + 1 - position : position % last + 1;
    }

    /// The parent in the tree in order over 1 to `last`, whose own parent is 0.
    private static int inOrderParent(int position, int last) {
        int lowest = Integer.lowestOneBit(position);
        int above = (position ^ lowest) | lowest << 1;
        return above <= last ? above : position ^ lowest;
    }

    int parent(int position) {
        return parent[position];
    }

    /// The first child, or NONE.
    int firstChild(int position) {
        return first[position];
    }

    /// The second child, or NONE.
    int secondChild(int position) {
        return second[position];
    }

    /// The distance from the root.
    int depth(int position) {
        return depth[position];
    }

    /// The largest distance from the root.
    int height() {
        return height;
    }
}
