package io.rdmacomm.cli.copy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/// What is known about a file before its data comes.
///
/// @param number which file of the sender it is
/// @param name its last name
/// @param size its length in bytes
/// @param mode its nine permission bits
/// @param seconds when it was last changed, since 1970
/// @param nanos the part of a second that belongs to it
record Offer(long number, String name, long size, long mode, long seconds, long nanos) {
    private static final PosixFilePermission[] BITS = {
        PosixFilePermission.OTHERS_EXECUTE,
        PosixFilePermission.OTHERS_WRITE,
        PosixFilePermission.OTHERS_READ,
        PosixFilePermission.GROUP_EXECUTE,
        PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.GROUP_READ,
        PosixFilePermission.OWNER_EXECUTE,
        PosixFilePermission.OWNER_WRITE,
        PosixFilePermission.OWNER_READ
    };

    /// What is known about the file at `path`.
    static Offer of(long number, Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        Instant time = attributes.lastModifiedTime().toInstant();
        Path leaf = path.toRealPath(LinkOption.NOFOLLOW_LINKS).getFileName();
        return new Offer(
                number,
                leaf == null ? "" : leaf.toString(),
                attributes.size(),
                mode(Files.getPosixFilePermissions(path)),
                time.getEpochSecond(),
                time.getNano());
    }

    static Offer of(Note note) throws RefusedException {
        Offer offer =
                new Offer(note.number(0), note.text(), note.number(1), note.number(2), note.number(3), note.number(4));
        if (offer.size < 0) {
            throw new RefusedException("the size " + offer.size + " is not possible");
        }
        return offer;
    }

    Note toNote() {
        return Note.of(Note.Kind.OFFER, name, number, size, mode, seconds, nanos);
    }

    /// Gives `path` the mode and the time.
    void apply(Path path) throws IOException {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (int bit = 0; bit < BITS.length; bit++) {
            if ((mode >> bit & 1) != 0) {
                permissions.add(BITS[bit]);
            }
        }
        Files.setPosixFilePermissions(path, permissions);
        try {
            Files.setLastModifiedTime(path, FileTime.from(Instant.ofEpochSecond(seconds, nanos)));
        } catch (DateTimeException e) {
            throw new IOException("the time of the file is not possible: " + seconds + " s", e);
        }
    }

    private static long mode(Set<PosixFilePermission> permissions) {
        long mode = 0;
        for (int bit = 0; bit < BITS.length; bit++) {
            if (permissions.contains(BITS[bit])) {
                mode |= 1L << bit;
            }
        }
        return mode;
    }
}
