package io.rdmacomm.cli;

import io.rdmacomm.cli.command.FailureText;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// Reports a wrong command line with one line, which points to the help, and exit code 2.
final class UsageHandler implements IParameterExceptionHandler {
    @Override
    public int handleParseException(ParameterException failure, String[] arguments) {
        CommandLine commandLine = failure.getCommandLine();
        String name = commandLine.getCommandSpec().qualifiedName();
        commandLine.getErr().println(name + ": " + text(failure) + "; see " + name + " --help");
        return CommandLine.ExitCode.USAGE;
    }

    private static String text(ParameterException failure) {
        if (failure instanceof UnmatchedArgumentException unmatched) {
            String words = FailureText.oneLine(String.join(" ", unmatched.getUnmatched()));
            String what =
                    unmatched.isUnknownOption() ? "unknown option " + words : "unexpected argument '" + words + "'";
            String near = NearMiss.of(unmatched.getUnmatched().getFirst(), unmatched.getCommandLine());
            return near.isEmpty() ? what : what + ", did you mean " + near + "?";
        }
        String message = failure.getMessage();
        return message == null
                ? "wrong usage"
                : FailureText.oneLine(message)
                        .replaceFirst("is not an? (int|long)$", "is not a whole number")
                        .replaceFirst("is not a double$", "is not a number")
                        .replaceFirst("^Invalid value", "invalid value")
                        .replaceFirst("^Missing required", "missing required");
    }
}
