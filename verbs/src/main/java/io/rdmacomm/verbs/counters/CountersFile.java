package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;

/// The counters file of this process. Each publication is one write(2): nothing is mapped, so a full file system is an
/// exception and not a signal, and an interrupted thread does not close the file (decision 35).
final class CountersFile implements AutoCloseable {
    private final CountersFolder folder;
    private final Path path;
    private final RandomAccessFile file;

    private CountersFile(CountersFolder folder, Path path, RandomAccessFile file) {
        this.folder = folder;
        this.path = path;
        this.file = file;
    }

    static CountersFile create(CountersFolder folder, ProcessIdentity process) throws IOException {
        // Removes the files of dead processes.
        var _ = PublishedCounters.read(folder.base());
        Path path = folder.create(process.pid());
        try {
            return new CountersFile(folder, path, new RandomAccessFile(path.toFile(), "rw"));
        } catch (IOException e) {
            folder.delete(path);
            throw e;
        }
    }

    /// Replaces the content.
    void write(byte[] content) throws IOException {
        file.seek(0);
        file.write(content);
        if (file.length() > content.length) {
            file.setLength(content.length);
        }
    }

    /// The path of the file.
    Path path() {
        return path;
    }

    /// Removes the file.
    @Override
    public void close() {
        folder.delete(path);
        try {
            file.close();
        } catch (IOException e) {
            SafeLogger.of("io.rdmacomm.verbs").log(System.Logger.Level.DEBUG, "closing " + path, e);
        }
    }
}
