package io.rdmacomm.cli;

import io.rdmacomm.cli.bench.ReportOptions;
import io.rdmacomm.cli.command.DeviceOption;
import io.rdmacomm.cli.command.DeviceOptions;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.ModeOptions;
import io.rdmacomm.cli.command.NodeOptions;
import io.rdmacomm.cli.command.PeerOptions;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.command.TrustOptions;
import io.rdmacomm.cli.mesh.CollectiveBenchOptions;
import java.lang.reflect.Member;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/// Groups the options of a command in the help, under a heading for each class of options.
public final class OptionGroups {
    private static final String OWN = "Options";
    private static final String OUTPUT = "Output";
    private static final String GENERAL = "General";
    /// In the order of the help.
    private static final List<String> HEADINGS =
            List.of(OWN, OUTPUT, "Server", "Nodes and collectives", "Modes", "Device and path", "Security", GENERAL);
    private static final Map<Class<?>, String> BY_CLASS = Map.ofEntries(
            Map.entry(JsonOption.class, OUTPUT),
            Map.entry(ReportOptions.class, OUTPUT),
            Map.entry(PeerOptions.class, "Server"),
            Map.entry(ListenOptions.class, "Server"),
            Map.entry(NodeOptions.class, "Nodes and collectives"),
            Map.entry(CollectiveBenchOptions.class, "Nodes and collectives"),
            Map.entry(ModeOptions.class, "Modes"),
            Map.entry(DeviceOption.class, "Device and path"),
            Map.entry(DeviceOptions.class, "Device and path"),
            Map.entry(TrustOptions.class, "Security"),
            Map.entry(Subcommand.class, GENERAL));
    private static final List<String> OUTPUT_NAMES = List.of("--csv", "--histograms", "--report");

    private OptionGroups() {}

    /// Shows the options of this command in groups.
    static void show(CommandLine command) {
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING, _ -> "");
        command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, OptionGroups::text);
    }

    /// The options that the help shows, by heading; no group is empty.
    public static Map<String, List<OptionSpec>> of(CommandSpec command) {
        Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
        HEADINGS.forEach(heading -> groups.put(heading, new ArrayList<>()));
        for (OptionSpec option : command.options()) {
            if (!option.hidden()) {
                groups.computeIfAbsent(heading(option), _ -> new ArrayList<>()).add(option);
            }
        }
        groups.values().removeIf(List::isEmpty);
        return groups;
    }

    private static String text(Help help) {
        StringBuilder text = new StringBuilder();
        of(help.commandSpec())
                .forEach((heading, options) ->
                        text.append("%n%s:%n".formatted(heading)).append(help.optionListExcludingGroups(options)));
        return text.toString();
    }

    private static String heading(OptionSpec option) {
        if (OUTPUT_NAMES.contains(option.longestName())) {
            return OUTPUT;
        }
        if (!(option.userObject() instanceof Member member)) {
            return OWN;
        }
        Class<?> where = member.getDeclaringClass();
        boolean ours = where.getPackageName().startsWith(OptionGroups.class.getPackageName());
        return BY_CLASS.getOrDefault(where, ours ? OWN : GENERAL);
    }
}
