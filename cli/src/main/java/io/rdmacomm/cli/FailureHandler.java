package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.cli.terminal.UsageFailure;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/// Reports a failed command with one line and exit code 1, or 2 for a [UsageFailure]. A stack trace follows only if the
/// user asked for details.
final class FailureHandler implements IExecutionExceptionHandler {
    @Override
    public int handleExecutionException(Exception failure, CommandLine commandLine, ParseResult arguments) {
        commandLine.getErr().println("rdmacomm " + commandLine.getCommandName() + ": " + FailureText.of(failure));
        if (isVerbose(arguments)) {
            commandLine.getErr().println(FailureText.trace(failure));
        }
        return failure instanceof UsageFailure ? CommandLine.ExitCode.USAGE : CommandLine.ExitCode.SOFTWARE;
    }

    private static boolean isVerbose(ParseResult arguments) {
        if (LogSettings.environmentLevel() >= 1) {
            return true;
        }
        return arguments.hasSubcommand() && arguments.subcommand().hasMatchedOption("-v");
    }
}
