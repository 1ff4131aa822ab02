package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.FailureText;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// The command `rdmacomm`. Exit codes: 0 done, 1 failed, 2 bad usage.
@Command(
        name = "rdmacomm",
        description = "RDMA for Java: tools for devices, latency, bandwidth and file copies, with or without a device.",
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
            "  rdmacomm devices        the devices of this machine",
            "  rdmacomm bench          latency and bandwidth between two processes on this machine",
            "",
            "RCL_MAX_VLOG_LEVEL=1..5 in the environment shows more of what happens.",
            "Exit codes: 0 done, 1 failed, 2 bad usage."
        })
public final class RdmaCommand implements Runnable {
    /// In the order of the help; a supplier each, so that a start loads only the subcommand it runs.
    private static final Map<String, Supplier<Object>> COMMANDS = CommandList.create();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private RdmaCommand() {}

    /// Runs the command and ends the JVM with its exit code.
    public static void main(String[] arguments) {
        Locale.setDefault(Locale.ROOT);
        LogSettings.install();
        CommandLine commandLine = commandLine(arguments);
        commandLine.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        commandLine.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        CommandLineText.remember(arguments);
        System.exit(execute(commandLine, arguments));
    }

    private static int execute(CommandLine commandLine, String... arguments) {
        try {
            return commandLine.execute(arguments);
        } catch (Error e) {
            // picocli hands over exceptions only; out of memory and a broken class path deserve one line as well.
            commandLine.getErr().println("rdmacomm: " + FailureText.of(e));
            if (LogSettings.level() >= 1) {
                e.printStackTrace(commandLine.getErr());
            }
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    /// The command with the subcommands that `arguments` may need: the one that is named, or else all.
    public static CommandLine commandLine(String... arguments) {
        CommandLine commandLine = new CommandLine(new RdmaCommand());
        for (String name : needed(arguments)) {
            Supplier<Object> command = COMMANDS.get(name);
            if (command != null) {
                commandLine.addSubcommand(name, command.get());
            }
        }
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setExecutionExceptionHandler(new FailureHandler());
        commandLine.setParameterExceptionHandler(new UsageHandler());
        commandLine.setUsageHelpLongOptionsMaxWidth(28);
        commandLine.setUsageHelpWidth(110);
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
