package io.rdmacomm.cli.command;

import java.io.PrintWriter;

/// The output of a command: results go to the standard output, failures to the standard error.
///
/// @param out the standard output
/// @param err the standard error
/// @param command the name of the command, with which every failure begins
public record CommandOutput(PrintWriter out, PrintWriter err, String command) {
    /// Prints a line of results.
    ///
    /// @throws LostOutput if the line cannot be written
    public void println(Object line) {
        out.println(line);
        LostOutput.check(out);
    }

    /// Prints a line about a failure that does not end the command.
    public void complain(String line) {
        err.println("rdmacomm " + command + ": " + line);
        err.flush();
    }
}
