import io.rdmacomm.cli.OptionGroups;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/// The man page of the command, or of a subcommand, for section 1.
final class ManualPage {
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "JAVA_HOME", "A JDK 25 or newer. It is not needed if the command has its own run-time image.",
            "RDMACOMM_JAVA_OPTS", "Options for the JVM, separated by blanks.");
    private static final Map<String, String> ESCAPES =
            Map.of("\\", "\\e", "-", "\\-", "'", "\\(aq", "`", "\\(ga", "^", "\\(ha", "~", "\\(ti");

    private final CommandLine command;
    private final CommandSpec spec;
    private final Help help;
    private final String version;
    private final String date;
    private final List<String> lines = new ArrayList<>();

    ManualPage(CommandLine command, String version, String date) {
        this.command = command;
        this.version = version;
        this.date = date;
        spec = command.getCommandSpec();
        help = new Help(spec, Help.defaultColorScheme(Ansi.OFF));
    }

    /// The name without the section, such as `rdmacomm-bench`.
    String name() {
        return spec.qualifiedName("-");
    }

    String text() {
        lines.clear();
        lines.add(".TH %s 1 %s \"rdmacomm %s\" \"User Commands\""
                .formatted(escaped(name().toUpperCase(Locale.ROOT)), date, escaped(version)));
        String[] description = spec.usageMessage().description();
        section("NAME");
        lines.add(escaped(name()) + " \\- " + escaped(lowerCase(description[0].replaceFirst("\\.$", ""))));
        section("SYNOPSIS");
        lines.add(escaped(help.synopsis(0).strip().replaceAll("\\s+", " ")));
        section("DESCRIPTION");
        sentences(description);
        spec.positionalParameters().stream().filter(each -> !each.hidden()).forEach(this::parameter);
        Map<String, List<OptionSpec>> groups = OptionGroups.of(spec);
        groups.forEach((heading, options) -> options(groups.size() == 1 ? "Options" : heading, options));
        commands();
        footer();
        environment();
        seeAlso();
        return String.join("\n", lines) + "\n";
    }

    private void section(String title) {
        lines.add(".SH " + escaped(title.toUpperCase(Locale.ROOT)));
    }

    private void options(String heading, List<OptionSpec> options) {
        section(heading);
        for (OptionSpec option : options) {
            String names = Stream.of(option.names())
                    .map(each -> "\\fB" + escaped(each) + "\\fR")
                    .collect(Collectors.joining(", "));
            tagged(names + label(option), option.description());
        }
    }

    private void parameter(PositionalParamSpec parameter) {
        tagged(label(parameter), parameter.description());
    }

    private String label(ArgSpec argument) {
        String label = help.parameterLabelRenderer()
                .renderParameterLabel(argument, Ansi.OFF, List.of())
                .toString();
        return label.isBlank() ? "" : "\\fI" + escaped(label) + "\\fR";
    }

    private void commands() {
        if (!command.getSubcommands().isEmpty()) {
            section("COMMANDS");
            command.getSubcommands()
                    .forEach((name, each) -> tagged(
                            "\\fB" + escaped(name) + "\\fR",
                            each.getCommandSpec().usageMessage().description()[0]));
        }
    }

    private void tagged(String tag, String... description) {
        lines.add(".TP");
        lines.add(tag);
        sentences(description);
    }

    /// Lines of the help stay lines.
    private void sentences(String... sentences) {
        boolean inParagraph = false;
        for (String each : sentences) {
            if (each.isBlank()) {
                lines.add(".PP");
            } else {
                if (inParagraph) {
                    lines.add(".br");
                }
                lines.add(escaped(each));
            }
            inParagraph = !each.isBlank();
        }
    }

    /// A line that ends with a colon begins a section; indented lines are examples.
    private void footer() {
        boolean inExample = false;
        for (String line : spec.usageMessage().footer()) {
            boolean isExample = line.startsWith("  ");
            if (isExample != inExample) {
                lines.add(isExample ? ".EX" : ".EE");
                inExample = isExample;
            }
            if (isExample) {
                lines.add(escaped(line.substring(2)));
            } else if (line.endsWith(":")) {
                section(line.substring(0, line.length() - 1));
            } else if (!line.isBlank()) {
                lines.add(".PP");
                lines.add(escaped(line));
            }
        }
        if (inExample) {
            lines.add(".EE");
        }
    }

    private void environment() {
        section("ENVIRONMENT");
        ENVIRONMENT.keySet().stream().sorted().forEach(each -> tagged("\\fB" + each + "\\fR", ENVIRONMENT.get(each)));
    }

    private void seeAlso() {
        section("SEE ALSO");
        Stream<String> others = command.getParent() == null
                ? command.getSubcommands().values().stream().map(each -> each.getCommandSpec().qualifiedName("-"))
                : Stream.of(command.getParent().getCommandSpec().qualifiedName("-"));
        lines.add(others.map(each -> "\\fB" + escaped(each) + "\\fR(1)").collect(Collectors.joining(",\n")));
    }

    private static String lowerCase(String sentence) {
        // An acronym stays.
        boolean isWord = sentence.length() > 1 && Character.isLowerCase(sentence.charAt(1));
        return isWord ? sentence.substring(0, 1).toLowerCase(Locale.ROOT) + sentence.substring(1) : sentence;
    }

    private static String escaped(String text) {
        String escaped = text.chars()
                .mapToObj(each -> ESCAPES.getOrDefault(Character.toString(each), Character.toString(each)))
                .collect(Collectors.joining());
        // A request begins with one of these; the other one is escaped anyway.
        return escaped.startsWith(".") ? "\\&" + escaped : escaped;
    }
}
