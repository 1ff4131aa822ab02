package io.rdmacomm.cli;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandLineText;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.command.LogSettings;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.cli.command.Ranges;
import io.rdmacomm.cli.command.StandardOutput;
import io.rdmacomm.cli.command.Version;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.Spec;

/// The command `rdmacomm`. Exit codes: 0 success, 1 failure, 2 wrong usage.
@Command(
        name = "rdmacomm",
        description =
                "RDMA for Java: tools for devices, latency, bandwidth and file copies, with or without RDMA hardware.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        descriptionHeading = "%n",
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        subcommandsRepeatable = false,
        footer = {
            "",
            "Start here:",
            "  rdmacomm devices        list the devices of this machine",
            "  rdmacomm bench          measure latency and bandwidth between two processes on this machine",
            "",
            "The environment variable RDMACOMM_LOG_LEVEL=1..5 makes every command log more.",
            "Exit codes: 0 success, 1 failure, 2 wrong usage."
        })
public final class RdmaCommand implements Runnable {
    private static final int HELP_WIDTH = 100;
    /// Holds suppliers, so that a run loads only the subcommand that it needs.
    private static final Map<String, Supplier<Object>> COMMANDS = CommandList.create();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private RdmaCommand() {}

    /// Runs the command and ends the JVM with its exit code.
    public static void main(String[] given) {
        String[] arguments = ExactArguments.of(given);
        Locale.setDefault(Locale.ROOT);
        LogSettings.install();
        CommandLine commandLine = commandLine(arguments);
        commandLine.setOut(new StandardOutput());
        commandLine.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        CommandLineText.remember(arguments);
        System.exit(execute(commandLine, arguments));
    }

    private static int execute(CommandLine commandLine, String... arguments) {
        try {
            int status = commandLine.execute(arguments);
            // Help and tables do not use CommandOutput.
            if (status == CommandLine.ExitCode.OK) {
                LostOutput.check(commandLine.getOut());
            }
            return status;
        } catch (LostOutput e) {
            return FailureHandler.report("rdmacomm", e, commandLine.getErr());
        } catch (Error e) {
            // picocli handles only exceptions; out of memory and a broken class path deserve one line as well.
            if (CloseOnExit.isExiting()) {
                return CommandLine.ExitCode.SOFTWARE;
            }
            commandLine.getErr().println("rdmacomm: " + FailureText.of(e));
            if (LogSettings.level() >= 1) {
                commandLine.getErr().println(FailureText.trace(e));
            }
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    /// The command with the subcommand that `arguments` name, or else with all subcommands.
    public static CommandLine commandLine(String... arguments) {
        CommandLine commandLine = new CommandLine(new RdmaCommand());
        for (String name : needed(arguments)) {
            Supplier<Object> command = COMMANDS.get(name);
            if (command != null) {
                commandLine.addSubcommand(name, command.get());
            }
        }
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        // A file name may begin with @, such as @list.
        commandLine.setExpandAtFiles(false);
        commandLine.registerConverter(Path.class, new FileName());
        commandLine.setExecutionStrategy(given -> {
            Ranges.check(given);
            return new RunLast().execute(given);
        });
        commandLine.setExecutionExceptionHandler(new FailureHandler());
        commandLine.setParameterExceptionHandler(new UsageHandler());
        commandLine.setUsageHelpLongOptionsMaxWidth(28);
        commandLine.setUsageHelpWidth(HELP_WIDTH);
        commandLine.setUsageHelpAutoWidth(true);
        commandLine.getSubcommands().values().forEach(OptionGroups::show);
        return commandLine;
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }

    private static List<String> needed(String... arguments) {
        for (String argument : arguments) {
            if (COMMANDS.containsKey(argument)) {
                return List.of(argument);
            }
            if (!argument.startsWith("-")) {
                break;
            }
        }
        return new ArrayList<>(COMMANDS.keySet());
    }
}
