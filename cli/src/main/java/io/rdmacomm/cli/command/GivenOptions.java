package io.rdmacomm.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The options of a command line, to pass them to another process of the command.
final class GivenOptions {
    private GivenOptions() {}

    /// The options of a mixin that were given.
    ///
    /// @param command the command that was given this command line
    static List<String> of(CommandSpec command, CommandSpec mixin) {
        return of(command, mixin.options().stream().map(OptionSpec::longestName));
    }

    /// Those of `names` that were given.
    static List<String> of(CommandSpec command, Stream<String> names) {
        ParseResult result = command.commandLine().getParseResult();
        List<String> arguments = new ArrayList<>();
        names.filter(result::hasMatchedOption).forEach(name -> {
            OptionSpec given = result.matchedOption(name);
            if (given.arity().max() == 0) {
                arguments.add(given.longestName());
            } else {
                given.originalStringValues().forEach(value -> arguments.addAll(List.of(given.longestName(), value)));
            }
        });
        return arguments;
    }
}
