package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.io.UncheckedIOException;

/// Serves each sender of a receiver, over any kind of connection.
///
/// @param folder where files go
/// @param memory shared by all senders
/// @param output where results go
/// @param verbose whether to print a line for each file
/// @param transport its name
record CopyService(IncomingFolder folder, CopyMemory memory, CommandOutput output, boolean verbose, String transport) {
    /// The most senders at a time, in total and from one address.
    static final int MOST_SENDERS = 256;

    static final int MOST_SENDERS_OF_AN_ADDRESS = 64;

    /// Makes the link to a sender.
    interface Connecting {
        /// Greets the sender. Blocks.
        ReceiverLink link() throws IOException;
    }

    /// Serves one sender until it disconnects. Blocks.
    ///
    /// @param sender its name in messages
    /// @return how many of its files failed
    int serve(String sender, Connecting connecting) {
        try (CopyReport report = new CopyReport(output, false, verbose, false);
                ReceiverLink link = connecting.link()) {
            int failures = new FileReceiver(link, folder, report).run();
            report.summarize(transport);
            return failures;
        } catch (IOException
                | UncheckedIOException
                | RdmaException
                | CommandFailure
                | LostOutput
                | OutOfMemoryError e) {
            output.complain(sender + ": " + FailureText.of(e));
            return 1;
        }
    }

    /// Serves a sender in its own thread.
    ///
    /// @param serving serves it
    /// @param refuse ends the connection if no thread can be started
    void start(String name, Runnable serving, Runnable refuse) {
        boolean started = false;
        try {
            Thread.ofPlatform().name(name).start(serving);
            started = true;
        } catch (OutOfMemoryError e) {
            output.complain("no thread for another sender: " + FailureText.of(e));
        } finally {
            if (!started) {
                refuse.run();
            }
        }
    }
}
