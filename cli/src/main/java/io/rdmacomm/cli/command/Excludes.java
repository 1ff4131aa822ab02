package io.rdmacomm.cli.command;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/// Rejects options that cannot be combined.
public final class Excludes {
    private Excludes() {}

    /// Rejects the named options.
    ///
    /// @param with what they cannot be combined with, and why if that is not obvious
    /// @param options the names of the options
    /// @throws ParameterException if one was given
    public static void check(CommandSpec spec, String with, List<String> options) {
        for (String option : options) {
            check(spec, with, option, spec.commandLine().getParseResult().hasMatchedOption(option));
        }
    }

    /// Rejects all options of a mixin.
    ///
    /// @param with what they cannot be combined with
    /// @throws ParameterException if one was given
    public static void check(CommandSpec spec, String with, CommandSpec mixin) {
        check(spec, with, mixin.options().stream().map(OptionSpec::longestName).toList());
    }

    /// Rejects one option or parameter.
    ///
    /// @param given whether the command line has it
    /// @throws ParameterException if it was given
    public static void check(CommandSpec spec, String with, String option, boolean given) {
        if (given) {
            throw new ParameterException(spec.commandLine(), option + " cannot be combined with " + with);
        }
    }
}
