package io.rdmacomm.soft.tcp;

/// The READs and atomics of one queue pair that wait for responses, in the order sent. Holds at most as many as
/// agreed on.
final class OutstandingReads {
    private final long[] positions;
    private final int[] keys;
    private final long[] addresses;
    private final long[] left;
    private final boolean[] atomic;
    private int first;
    private int count;

    OutstandingReads(int most) {
        int size = Math.max(1, most);
        positions = new long[size];
        keys = new int[size];
        addresses = new long[size];
        left = new long[size];
        atomic = new boolean[size];
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean isFull() {
        return count == positions.length;
    }

    /// Waits for `bytes` bytes at `address` of the region with the local key `key`.
    ///
    /// @param position of the request in its ring
    void addRead(long position, int key, long address, long bytes) {
        int at = add(position);
        atomic[at] = false;
        keys[at] = key;
        addresses[at] = address;
        left[at] = bytes;
    }

    /// Waits for the old value of an atomic operation.
    void addAtomic(long position) {
        atomic[add(position)] = true;
    }

    private int add(long position) {
        int at = (first + count) % positions.length;
        positions[at] = position;
        count++;
        return at;
    }

    /// Whether the oldest is an atomic operation.
    boolean isAtomic() {
        return atomic[first];
    }

    /// The position of the oldest request.
    long position() {
        return positions[first];
    }

    /// The local key of the oldest READ.
    int key() {
        return keys[first];
    }

    /// The target for the next byte of the oldest READ.
    long address() {
        return addresses[first];
    }

    /// The number of bytes of the oldest READ that are missing.
    long left() {
        return left[first];
    }

    /// Bytes of the oldest READ have arrived.
    void advance(int bytes) {
        addresses[first] += bytes;
        left[first] -= bytes;
    }

    /// Removes the oldest request: it is complete.
    void remove() {
        first = (first + 1) % positions.length;
        count--;
    }

    /// Removes the requests from `position` on: they were not executed.
    void removeFrom(long position) {
        while (count > 0 && positions[(first + count - 1) % positions.length] >= position) {
            count--;
        }
    }
}
