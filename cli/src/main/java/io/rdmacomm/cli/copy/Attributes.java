package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.FailureText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.stream.Stream;

/// Sets the permissions and the times of received files. As with cp(1), permissions are those of the original,
/// reduced by the umask of the receiver. If the file system supports neither, the file is accepted all the same.
final class Attributes {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String UMASK = "Umask:";
    private static final int USUAL_UMASK = 022;
    private static final int OCTAL = 8;

    private final long umask;

    /// Uses the umask of this process.
    Attributes() {
        this.umask = umask();
    }

    private static long umask() {
        try (Stream<String> lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith(UMASK))
                    .mapToLong(line ->
                            Long.parseLong(line.substring(UMASK.length()).strip(), OCTAL))
                    .findFirst()
                    .orElse(USUAL_UMASK);
        } catch (IOException | NumberFormatException _) {
            return USUAL_UMASK;
        }
    }

    /// The permissions of a directory while it is being filled: its own, and all rights for its owner.
    FileAttribute<Set<PosixFilePermission>> whileOpen(Offer offer) {
        Set<PosixFilePermission> permissions = offer.permissions(umask);
        permissions.addAll(PosixFilePermissions.fromString("rwx------"));
        return PosixFilePermissions.asFileAttribute(permissions);
    }

    /// Sets the permissions and the time.
    ///
    /// @return why one of them could not be set; empty if both were
    String apply(Offer offer, Path path) {
        String warning = "";
        try {
            Files.setPosixFilePermissions(path, offer.permissions(umask));
        } catch (IOException e) {
            warning = FailureText.ofFile(e);
        } catch (UnsupportedOperationException _) {
            warning = "the file system has no permissions";
        }
        try {
            Files.setLastModifiedTime(path, offer.time());
        } catch (IOException e) {
            warning = FailureText.ofFile(e);
        }
        return warning;
    }
}
