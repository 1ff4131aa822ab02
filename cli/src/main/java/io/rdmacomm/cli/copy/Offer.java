package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.rig.Frame;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// A file or directory that the sender offers before it sends the data. On the wire, the name is bytes.
///
/// @param number numbers the offers of a sender, from 1
/// @param folder the number of its directory; 0 for that of the receiver
/// @param kind what it is
/// @param name its name without directories; empty for FOLDER_END
/// @param size the length of a file in bytes
/// @param mode its nine permission bits, as in chmod(1)
/// @param seconds its modification time in seconds since 1970
/// @param nanos the nanoseconds of that time
/// @param existing what the sender wants the receiver to do if the file exists
/// @param resume whether the receiver keeps an incomplete file when the connection breaks, and continues such a
///     file
record Offer(
        long number,
        long folder,
        Kind kind,
        String name,
        long size,
        long mode,
        long seconds,
        long nanos,
        Existing existing,
        boolean resume) {
    /// The permissions from the highest of the nine bits to the lowest.
    private static final List<PosixFilePermission> PERMISSIONS = List.of(PosixFilePermission.values());

    private static final List<Kind> KINDS = List.of(Kind.values());
    private static final List<Existing> CHOICES = List.of(Existing.values());

    /// The kind of file that is offered. The order is part of the wire format.
    enum Kind {
        /// A regular file.
        FILE,
        /// A directory; offers of its content follow.
        FOLDER,
        /// The end of the directory whose number is [Offer#folder()], with its permissions and its time.
        FOLDER_END
    }

    /// The offer of a file or directory with these attributes.
    ///
    /// @param size the bytes of a file that can be read; 0 for a directory
    static Offer of(
            long number,
            long folder,
            Kind kind,
            String name,
            PosixFileAttributes attributes,
            long size,
            Existing existing,
            boolean resume) {
        Instant time = attributes.lastModifiedTime().toInstant();
        return new Offer(
                number,
                folder,
                kind,
                name,
                size,
                attributes.permissions().stream().mapToLong(Offer::bit).sum(),
                time.getEpochSecond(),
                time.getNano(),
                existing,
                resume);
    }

    static Offer of(Frame<CopyMessage> frame) throws RejectedFileException {
        Offer offer = new Offer(
                frame.number(0),
                frame.number(1),
                choice(KINDS, frame.number(2), "kind"),
                name(frame),
                frame.number(3),
                frame.number(4),
                frame.number(5),
                frame.number(6),
                choice(CHOICES, frame.number(7), "choice for existing files"),
                frame.number(8) != 0);
        if (offer.size < 0) {
            throw new RejectedFileException("a size of " + offer.size + " bytes is not valid");
        }
        try {
            var _ = offer.time();
        } catch (DateTimeException | ArithmeticException _) {
            throw new RejectedFileException("the modification time is not valid: " + offer.seconds + " s");
        }
        return offer;
    }

    /// The name in a frame, even if the rest of the frame is not valid.
    static String name(Frame<CopyMessage> frame) {
        return FileName.decode(frame.bytes());
    }

    private static <T> T choice(List<T> choices, long index, String what) throws RejectedFileException {
        if (index < 0 || index >= choices.size()) {
            throw new RejectedFileException(
                    "the sender uses an unknown " + what + ": run the same version of rdmacomm on both sides");
        }
        return choices.get((int) index);
    }

    Frame<CopyMessage> toFrame() {
        return Frame.of(
                CopyMessage.OFFER,
                FileName.encode(name),
                number,
                folder,
                KINDS.indexOf(kind),
                size,
                mode,
                seconds,
                nanos,
                CHOICES.indexOf(existing),
                resume ? 1 : 0);
    }

    /// This offer with another choice for existing files.
    Offer withExisting(Existing choice) {
        return new Offer(number, folder, kind, name, size, mode, seconds, nanos, choice, resume);
    }

    FileTime time() {
        return FileTime.from(Instant.ofEpochSecond(seconds, nanos));
    }

    /// The permissions without those in `mask`.
    Set<PosixFilePermission> permissions(long mask) {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (PosixFilePermission permission : PERMISSIONS) {
            if ((mode & ~mask & bit(permission)) != 0) {
                permissions.add(permission);
            }
        }
        return permissions;
    }

    private static long bit(PosixFilePermission permission) {
        return 1L << (PERMISSIONS.size() - 1 - PERMISSIONS.indexOf(permission));
    }
}
