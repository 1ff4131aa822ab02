package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Operation;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ProtectionDomain;
import java.util.List;

/// Checks the arguments of operations before anything is posted, and turns buffers into addresses and keys. A
/// mistake causes an exception, but does not end the connection. Immutable.
///
/// @param domain the protection domain that local buffers must be registered in
/// @param endPoint the number of the endpoint that remote buffers must belong to
/// @param maxMessage the longest message that the peer receives, in bytes
/// @param maxTransfer the longest WRITE or READ of the device, in bytes
/// @param maxReadTargets the most slices that one READ may fill
record OperationChecks(ProtectionDomain domain, long endPoint, int maxMessage, long maxTransfer, int maxReadTargets) {
    /// The same checks for a peer that receives messages of at most `bytes`.
    OperationChecks withMaxMessage(int bytes) {
        return new OperationChecks(domain, endPoint, bytes, maxTransfer, maxReadTargets);
    }

    Operation send(Operation operation, BufferSlice message) {
        return local(operation, Operation.SEND, message, maxMessage);
    }

    Operation send(Operation operation, BufferSlice message, int tag) {
        return local(operation, Operation.SEND_TAGGED, message, maxMessage).tag(tag);
    }

    /// A SEND of `length` bytes that are not in place yet.
    Operation send(Operation operation, long length) {
        return absent(operation, Operation.SEND, length);
    }

    Operation send(Operation operation, long length, int tag) {
        return absent(operation, Operation.SEND_TAGGED, length).tag(tag);
    }

    Operation write(Operation operation, BufferSlice from, RemoteBuffer to, long offset) {
        return remote(local(operation, Operation.WRITE, from, maxTransfer), to, offset, AccessFlag.REMOTE_WRITE);
    }

    Operation writeNotify(Operation operation, BufferSlice from, RemoteBuffer to, long offset, int tag) {
        local(operation, Operation.WRITE_NOTIFY, from, maxTransfer).tag(tag);
        return remote(operation, to, offset, AccessFlag.REMOTE_WRITE);
    }

    Operation read(Operation operation, BufferSlice into, RemoteBuffer from, long offset) {
        checkWritable(into);
        return remote(local(operation, Operation.READ, into, maxTransfer), from, offset, AccessFlag.REMOTE_READ);
    }

    Operation read(Operation operation, Read read) {
        List<BufferSlice> into = read.into();
        if (into.size() > maxReadTargets) {
            throw new IllegalArgumentException("a read into " + into.size()
                    + " slices has more than this channel allows, which is " + maxReadTargets
                    + "; make several reads of it");
        }
        operation.local(Operation.READ, 0, 0, 0);
        for (int i = 0; i < into.size(); i++) {
            BufferSlice slice = into.get(i);
            checkWritable(slice);
            check(slice.buffer());
            operation.add(slice.address(), slice.length(), slice.buffer().localKey());
        }
        checkLength(Operation.READ, operation.length(), maxTransfer);
        return remote(operation, read.from(), read.offset(), AccessFlag.REMOTE_READ);
    }

    private void checkWritable(BufferSlice into) {
        if (!into.buffer().isWritable()) {
            throw new IllegalArgumentException("a read into " + into + " needs LOCAL_WRITE on that buffer");
        }
    }

    Operation compareAndSwap(Operation operation, RemoteBuffer in, long offset, long expected, long value) {
        return atomic(operation, Operation.COMPARE_AND_SWAP, in, offset).operands(expected, value);
    }

    Operation fetchAndAdd(Operation operation, RemoteBuffer in, long offset, long addend) {
        return atomic(operation, Operation.FETCH_AND_ADD, in, offset).operands(addend, 0);
    }

    private Operation local(Operation operation, int kind, BufferSlice slice, long most) {
        long length = slice.length();
        check(slice.buffer());
        checkLength(kind, length, most);
        return operation.local(kind, slice.address(), length, slice.buffer().localKey());
    }

    private void check(RdmaBuffer buffer) {
        if (!buffer.domain().equals(domain)) {
            throw new IllegalArgumentException(buffer + " belongs to another session than this channel");
        }
        if (!buffer.isOpen()) {
            throw new IllegalStateException(buffer + " is closed");
        }
    }

    private Operation absent(Operation operation, int kind, long length) {
        checkLength(kind, length, maxMessage);
        return operation.local(kind, 0, length, 0);
    }

    private static void checkLength(int kind, long length, long most) {
        if (length > most) {
            throw new IllegalArgumentException(Operation.name(kind) + " of " + length
                    + " bytes is longer than the peer or the device allows, which is " + most);
        }
    }

    private Operation remote(Operation operation, RemoteBuffer buffer, long offset, AccessFlag right) {
        return operation.remote(buffer.check(offset, operation.length(), right, endPoint), buffer.key());
    }

    private Operation atomic(Operation operation, int kind, RemoteBuffer in, long offset) {
        long address = in.check(offset, Long.BYTES, AccessFlag.REMOTE_ATOMIC, endPoint);
        if ((address & 7) != 0) {
            throw new IllegalArgumentException("an atomic operation at offset " + offset + " of " + in
                    + " is not at an address that is a multiple of 8");
        }
        return operation.local(kind, 0, Long.BYTES, 0).remote(address, in.key());
    }
}
