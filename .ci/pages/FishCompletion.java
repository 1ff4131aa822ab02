import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The completion of fish: a line for each subcommand and each option.
final class FishCompletion {
    private final CommandLine command;
    private final String name;
    private final StringBuilder text = new StringBuilder();

    FishCompletion(CommandLine command) {
        this.command = command;
        name = command.getCommandName();
    }

    String text() {
        text.append("# Completion of %s for fish.%n".formatted(name));
        line("__fish_use_subcommand", "--no-files");
        command.getSubcommands()
                .forEach((each, line) -> line("__fish_use_subcommand", "--arguments " + each + about(line.getCommandSpec())));
        options("__fish_use_subcommand", command.getCommandSpec());
        command.getSubcommands()
                .forEach((each, line) -> options("__fish_seen_subcommand_from " + each, line.getCommandSpec()));
        return text.toString();
    }

    private void options(String when, CommandSpec spec) {
        if (spec.parent() != null && spec.positionalParameters().stream().noneMatch(FishCompletion::isFile)) {
            line(when, "--no-files");
        }
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                line(when, names(option) + value(option) + description(first(option.description())));
            }
        }
    }

    private void line(String when, String rest) {
        text.append("complete --command %s --condition %s %s%n".formatted(name, quoted(when), rest.strip()));
    }

    private static String names(OptionSpec option) {
        return List.of(option.names()).stream()
                .map(each -> each.startsWith("--") ? "--long-option " + each.substring(2) : "--short-option " + each.substring(1))
                .collect(Collectors.joining(" "));
    }

    private static String value(OptionSpec option) {
        if (option.arity().max() == 0) {
            return "";
        }
        if (option.completionCandidates() != null) {
            String words = StreamSupport.stream(option.completionCandidates().spliterator(), false)
                    .collect(Collectors.joining(" "));
            return " --exclusive --arguments " + quoted(words);
        }
        return isFile(option) ? " --require-parameter --force-files" : " --exclusive";
    }

    private static boolean isFile(ArgSpec argument) {
        Class<?> type = argument.auxiliaryTypes().length == 0 ? argument.type() : argument.auxiliaryTypes()[0];
        return type == Path.class || type == File.class || argument.paramLabel().contains("FILE");
    }

    private static String about(CommandSpec spec) {
        return description(first(spec.usageMessage().description()));
    }

    private static String description(String sentence) {
        return sentence.isEmpty() ? "" : " --description " + quoted(sentence);
    }

    /// The first sentence.
    private static String first(String... lines) {
        String line = lines.length == 0 ? "" : lines[0];
        return line.split("[.;:] | \\(|[.:]$", 2)[0];
    }

    private static String quoted(String words) {
        return "'" + words.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
