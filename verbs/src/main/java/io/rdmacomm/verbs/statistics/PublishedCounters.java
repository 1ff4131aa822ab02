package io.rdmacomm.verbs.statistics;

import io.rdmacomm.verbs.Printable;
import io.rdmacomm.verbs.counters.file.CountersFolder;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// The counters of all processes of this user on this machine that have a session or an rsocket: the data of
/// `rdmacomm top`, for monitoring agents. Immutable.
///
/// Each process writes its counters to a file once a second, and every four seconds if it has a thousand channels.
/// A process with `-Drdmacomm.counters=off` does not, nor does one that uses only the verbs. The files are in a
/// folder of the user, `rdmacomm-counters-UID` with mode 0700. Folders and files of other users are not read, and
/// links are not followed. The user's own programs can still write anything to a file: all lengths and numbers are
/// checked, and characters that would disturb a terminal are replaced ([Printable]).
///
/// @param folder the folder of the files, or its probable path if it does not exist yet
/// @param processes the live processes, in the order of their files; immutable
/// @param problems a printable line for each file that could not be read, with the reason: it is damaged, or from a
///        version of rdmacomm with another layout; immutable
public record PublishedCounters(Path folder, List<PublishedProcess> processes, List<String> problems) {
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.verbs");

    /// Copies the lists.
    public PublishedCounters {
        processes = List.copyOf(processes);
        problems = List.copyOf(problems);
    }

    /// Reads the files in the directory that the system property `rdmacomm.counters.directory` of this process
    /// names, by default `/dev/shm`, or `java.io.tmpdir` where that does not exist; see [#read(Path)].
    ///
    /// @throws IOException if the folder cannot be read, or this system has no user numbers
    public static PublishedCounters read() throws IOException {
        return read(CountersFolder.directory());
    }

    /// Reads the files of processes that were started with another `-Drdmacomm.counters.directory`. Does not wait
    /// for other processes, but may read up to 4096 files of 513 KiB. Thread-safe.
    ///
    /// Removes the files of processes that were killed, except in other containers, and files that cannot be
    /// read and that nobody has written for an hour.
    ///
    /// @param directory the value of the property; if it does not exist, the result is empty
    /// @throws IOException if the folder cannot be read, or this system has no user numbers
    public static PublishedCounters read(Path directory) throws IOException {
        CountersFolder folder = new CountersFolder(directory);
        List<PublishedProcess> processes = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        ProcessIdentity own = ProcessIdentity.own();
        for (Path file : folder.files()) {
            try {
                PublishedProcess process = CountersReader.read(file);
                if (process.identity().isDead(own)) {
                    CountersFolder.remove(file);
                } else {
                    processes.add(process);
                }
            } catch (NoSuchFileException e) {
                LOGGER.log(System.Logger.Level.TRACE, "{0}: its process has just ended", file);
            } catch (IOException e) {
                if (CountersReader.isForgotten(file)) {
                    CountersFolder.remove(file);
                } else {
                    problems.add(Printable.text(file + ": " + e.getMessage()));
                }
            }
        }
        return new PublishedCounters(folder.path(), processes, problems);
    }
}
