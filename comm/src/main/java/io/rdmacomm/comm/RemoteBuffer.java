package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Printable;
import java.util.Objects;
import java.util.Set;

/// A peer's buffer, for one-sided operations. Ranges and rights are checked before an operation is posted, so that
/// a mistake causes an exception but does not end the connection. Immutable.
public final class RemoteBuffer {
    private static final long ANY = 0;

    private final String name;
    private final long address;
    private final long length;
    private final int key;
    private final int access;
    private final long owner;

    /// @param owner the number of the endpoint whose peer announced it; ANY when it may be used on any
    RemoteBuffer(String name, long address, long length, int key, int access, long owner) {
        Bounds.range("length of a remote buffer", length, 0, Long.MAX_VALUE);
        this.name = Printable.text(name);
        this.address = address;
        this.length = length;
        this.key = key;
        this.access = access;
        this.owner = owner;
    }

    /// A peer's buffer whose address and key were exchanged by means other than [EndPoint#announce]. If the buffer
    /// does not exist, the first operation on it fails.
    ///
    /// @param name its name in messages
    /// @param address its start in the peer's address space
    /// @param length its length in bytes
    /// @param key the peer's remote key
    /// @param access the rights that the peer grants
    public static RemoteBuffer of(String name, long address, long length, int key, Set<AccessFlag> access) {
        return new RemoteBuffer(name, address, length, key, AccessFlag.mask(access), ANY);
    }

    /// The name under which the peer announced it, with a question mark in place of each character that is not
    /// printable.
    public String name() {
        return name;
    }

    /// Its start in the peer's address space.
    public long address() {
        return address;
    }

    /// Its length in bytes.
    public long length() {
        return length;
    }

    /// The peer's remote key.
    public int key() {
        return key;
    }

    /// The access rights that the peer allows.
    public Set<AccessFlag> access() {
        return AccessFlag.of(access);
    }

    /// The address of `offset`, after checking the range, the right and the endpoint.
    long check(long offset, long size, AccessFlag right, long endPoint) {
        if ((offset | size) < 0 || offset > length - size) {
            throw outOfRange(offset, size);
        }
        if (!right.in(access)) {
            throw new IllegalArgumentException(
                    this + " does not allow " + right + "; its owner must announce it with that right");
        }
        if (owner != ANY && owner != endPoint) {
            throw new IllegalArgumentException(this + " belongs to another endpoint: its key is not valid on this one");
        }
        return address + offset;
    }

    private IndexOutOfBoundsException outOfRange(long offset, long size) {
        return new IndexOutOfBoundsException(
                "range of " + size + " bytes at offset " + offset + " is not within " + this);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RemoteBuffer that
                && name.equals(that.name)
                && address == that.address
                && length == that.length
                && key == that.key
                && access == that.access;
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, address, length, key);
    }

    @Override
    public String toString() {
        return "remote buffer '" + name + "' of " + length + " bytes";
    }
}
