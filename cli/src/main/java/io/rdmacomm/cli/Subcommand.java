package io.rdmacomm.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// What all subcommands share: the options of every command, and where they print.
@Command(
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        descriptionHeading = "%n",
        parameterListHeading = "%n",
        optionListHeading = "%nOptions:%n")
abstract class Subcommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-v", "--verbose"},
            description = "Show what happens, and the stack trace of a failure.")
    final void verbose(boolean wanted) {
        if (wanted) {
            LogSettings.verbose();
        }
    }

    /// Whether the command line asks to show what happens.
    final boolean isVerbose() {
        return spec.commandLine().getParseResult().hasMatchedOption("-v");
    }

    /// The standard output: results.
    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /// The standard error: failures and progress.
    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /// The command line of this command, to report wrong usage.
    final CommandSpec spec() {
        return spec;
    }
}
