package io.rdmacomm.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;

/// Maps files to be registered, and explains why it cannot.
final class FileMapping {
    private static final String MAP = "map file (mmap)";

    private FileMapping() {}

    /// @param access the rights of the region, as bits of [AccessFlag]
    static MemorySegment of(FileChannel file, long offset, long length, int access, Arena arena) {
        boolean writable = AccessFlag.LOCAL_WRITE.in(access);
        String part = length + " bytes at " + offset;
        try {
            long size = file.size();
            if (offset > size - length) {
                // Mapping more than the file has would make it longer.
                throw new VerbException(
                        MAP,
                        Errno.EINVAL,
                        "the file has " + size + " bytes, fewer than " + part
                                + "; map less, or make the file longer first");
            }
            return file.map(writable ? MapMode.READ_WRITE : MapMode.READ_ONLY, offset, length, arena);
        } catch (NonReadableChannelException e) {
            throw new VerbException(
                    MAP, Errno.EACCES, "the channel was not opened for reading; open it with READ, too", e);
        } catch (NonWritableChannelException e) {
            throw new VerbException(
                    MAP,
                    Errno.EACCES,
                    "the channel was not opened for writing, as the rights " + AccessFlag.of(access)
                            + " need; open it with READ and WRITE, or leave out LOCAL_WRITE, REMOTE_WRITE and"
                            + " REMOTE_ATOMIC",
                    e);
        } catch (ClosedByInterruptException e) {
            throw new RdmaInterruptedException(
                    "interrupted while mapping " + part + " of a file, whose channel is closed now", e);
        } catch (ClosedChannelException e) {
            throw new VerbException(
                    MAP, Errno.EBADF, "the channel is closed; it is needed until the file is mapped", e);
        } catch (UnsupportedOperationException e) {
            throw new VerbException(
                    MAP,
                    Errno.EOPNOTSUPP,
                    "a " + file.getClass().getName() + " cannot be mapped; use the channel of a file of the system",
                    e);
        } catch (IOException e) {
            throw new VerbException(
                    MAP,
                    e.getCause() instanceof OutOfMemoryError ? Errno.ENOMEM : Errno.EIO,
                    part + ": " + e.getMessage(),
                    e);
        }
    }
}
