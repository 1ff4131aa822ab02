package io.rdmacomm.cli;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.LogSettings;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.cli.command.UsageFailure;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/// Reports a failed command with one line and exit code 1, or 2 for a [UsageFailure]. A stack trace follows only if
/// the user asked for details. Does not report failures caused by the exit of the process, for example after
/// Ctrl-C.
final class FailureHandler implements IExecutionExceptionHandler {
    /// The exit status of SIGPIPE in a shell.
    private static final int NO_READER = 141;

    @Override
    public int handleExecutionException(Exception failure, CommandLine commandLine, ParseResult arguments) {
        String name = "rdmacomm " + commandLine.getCommandName();
        if (failure instanceof LostOutput lost) {
            return report(name, lost, commandLine.getErr());
        }
        if (CloseOnExit.isExiting()) {
            return CommandLine.ExitCode.SOFTWARE;
        }
        commandLine.getErr().println(name + ": " + FailureText.of(failure));
        if (isVerbose(arguments)) {
            commandLine.getErr().println(FailureText.trace(failure));
        }
        return failure instanceof UsageFailure ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }

    /// Reports lost output, unless the reader has closed the pipe.
    ///
    /// @return the exit status
    static int report(String command, LostOutput failure, PrintWriter err) {
        if (failure.isClosedPipe()) {
            return NO_READER;
        }
        err.println(command + ": " + FailureText.of(failure));
        return CommandLine.ExitCode.SOFTWARE;
    }

    private static boolean isVerbose(ParseResult arguments) {
        if (LogSettings.environmentLevel() >= 1) {
            return true;
        }
        return arguments.hasSubcommand() && arguments.subcommand().hasMatchedOption("-v");
    }
}
