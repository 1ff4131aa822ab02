package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.wire.Frame;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// A file that the sender offers, before its data.
///
/// @param number numbers the files of a sender, from 1
/// @param name its name without directories
/// @param size its length in bytes
/// @param mode its nine permission bits, as in chmod(1)
/// @param seconds its modification time in seconds since 1970
/// @param nanos the nanoseconds of that time
record Offer(long number, String name, long size, long mode, long seconds, long nanos) {
    /// The permissions from the highest to the lowest of the nine bits.
    private static final List<PosixFilePermission> PERMISSIONS = List.of(PosixFilePermission.values());

    /// The offer of the file at `path`.
    static Offer of(long number, Path path) throws IOException {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        Instant time = attributes.lastModifiedTime().toInstant();
        Path leaf = path.toRealPath(LinkOption.NOFOLLOW_LINKS).getFileName();
        return new Offer(
                number,
                leaf == null ? "" : leaf.toString(),
                attributes.size(),
                Files.getPosixFilePermissions(path).stream()
                        .mapToLong(Offer::bit)
                        .sum(),
                time.getEpochSecond(),
                time.getNano());
    }

    static Offer of(Frame<CopyMessage> frame) throws RejectedFileException {
        Offer offer = new Offer(
                frame.number(0),
                new String(frame.bytes(), StandardCharsets.UTF_8),
                frame.number(1),
                frame.number(2),
                frame.number(3),
                frame.number(4));
        if (offer.size < 0) {
            throw new RejectedFileException("a size of " + offer.size + " bytes is not valid");
        }
        return offer;
    }

    Frame<CopyMessage> toFrame() {
        return Frame.of(CopyMessage.OFFER, name, number, size, mode, seconds, nanos);
    }

    /// Sets the permissions and the modification time of `path`.
    void apply(Path path) throws IOException {
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        for (PosixFilePermission permission : PERMISSIONS) {
            if ((mode & bit(permission)) != 0) {
                permissions.add(permission);
            }
        }
        Files.setPosixFilePermissions(path, permissions);
        try {
            Files.setLastModifiedTime(path, FileTime.from(Instant.ofEpochSecond(seconds, nanos)));
        } catch (DateTimeException e) {
            throw new IOException("the modification time is not valid: " + seconds + " s", e);
        }
    }

    private static long bit(PosixFilePermission permission) {
        return 1L << (PERMISSIONS.size() - 1 - PERMISSIONS.indexOf(permission));
    }
}
