package io.rdmacomm.cli.command;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Checks the file for the results of a command before the work, so that the results are not lost.
public final class ResultFile {
    private ResultFile() {}

    /// Checks that `file` can be written, without changing it.
    ///
    /// @throws CommandFailure if it cannot
    public static void check(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw failure(file, "its directory does not exist");
        }
        if (Files.isDirectory(file)) {
            throw failure(file, "it is a directory");
        }
        try {
            if (Files.isRegularFile(file)) {
                FileChannel.open(file, StandardOpenOption.WRITE).close();
            } else if (!Files.exists(file)) {
                FileChannel.open(file, StandardOpenOption.WRITE, StandardOpenOption.CREATE)
                        .close();
                Files.delete(file);
            } else if (!Files.isWritable(file)) {
                // Do not open a pipe or a device: that could block until there is a reader, or end a reader's
                // input.
                throw failure(file, "permission denied");
            }
        } catch (AccessDeniedException _) {
            throw failure(file, "permission denied");
        } catch (FileSystemException e) {
            String reason = e.getReason();
            throw failure(file, reason == null ? FailureText.of(e) : reason);
        } catch (IOException e) {
            throw failure(file, FailureText.of(e));
        }
    }

    private static CommandFailure failure(Path file, String reason) {
        return new CommandFailure(file + ": cannot be written, because " + reason);
    }
}
