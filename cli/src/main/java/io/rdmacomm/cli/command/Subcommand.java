package io.rdmacomm.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The common part of all subcommands: options, output and usage errors.
@Command(
        sortOptions = false,
        abbreviateSynopsis = true,
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        descriptionHeading = "%n",
        parameterListHeading = "%n",
        optionListHeading = "%nOptions:%n")
public abstract class Subcommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-v", "--verbose"},
            description = "Show details, and the stack trace of a failure.")
    final void verbose(boolean wanted) {
        if (wanted) {
            LogSettings.verbose();
        }
    }

    /// Whether the command line has `--verbose`.
    protected final boolean isVerbose() {
        return spec.commandLine().getParseResult().hasMatchedOption("-v");
    }

    /// Whether the command line has an option.
    protected final boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    /// The options with these names that the command line has, for another process of the command.
    protected final List<String> given(String... names) {
        return GivenOptions.of(spec, Stream.of(names));
    }

    /// Checks a number whose range depends on other options.
    ///
    /// @throws ParameterException if it is out of range
    protected final void checkRange(String option, long value, long min, long max) {
        Ranges.check(spec, option, value, min, max);
    }

    /// Rejects options.
    ///
    /// @param with what they cannot be combined with
    /// @throws ParameterException if one was given
    protected final void exclude(String with, String... options) {
        Excludes.check(spec, with, List.of(options));
    }

    /// The arguments that follow the name of the subcommand, as the user typed them.
    protected final List<String> originalArguments() {
        List<String> all = spec.root().commandLine().getParseResult().originalArgs();
        return all.subList(all.indexOf(spec.name()) + 1, all.size());
    }

    /// Where the command prints.
    protected final CommandOutput output() {
        return new CommandOutput(spec.commandLine().getOut(), spec.commandLine().getErr(), spec.name());
    }

    /// The exception that reports wrong usage.
    protected final ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
