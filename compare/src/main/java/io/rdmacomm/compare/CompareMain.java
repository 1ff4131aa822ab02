package io.rdmacomm.compare;

import io.rdmacomm.cli.bench.trial.MachineLoad;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.Placement.Halves;
import io.rdmacomm.cli.report.Figure;
import io.rdmacomm.cli.report.Grid;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The program behind `compare/run`, which describes its options.
@Command(name = "compare/run")
public final class CompareMain implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--command", description = "The command rdmacomm.")
    private String command = "";

    @Option(names = "--jars", description = "The class path of programs whose start is measured.")
    private String jars = "";

    @Option(names = "--rounds", defaultValue = "5", description = "The number of rounds.")
    private int rounds;

    @Option(names = "--duration", defaultValue = "1", description = "The seconds of each measurement.")
    private double seconds;

    @Option(names = "--warmup", defaultValue = "1", description = "The seconds of each warm-up.")
    private double warmUp;

    @Option(names = "--only", split = ",", description = "The scenarios, or beginnings of their names.")
    private List<String> only = new ArrayList<>();

    @Option(names = "--list", description = "List the scenarios.")
    private boolean list;

    @Option(names = "--lab", description = "The scenarios of the lab.")
    private boolean lab;

    @Option(
            names = "--programs",
            description = "The folder with the programs of other projects, to measure only these.")
    private @Nullable Path programs;

    @Option(names = "--no-pin", description = "Let the kernel choose the processors.")
    private boolean noPin;

    @Option(names = "--json", description = "The file for the result.")
    private @Nullable Path json;

    @Option(names = "--report", description = "The file for the page.")
    private @Nullable Path report;

    @Option(names = "--baseline", description = "The result of an earlier run.")
    private @Nullable Path baseline;

    @Option(names = "--from", description = "Measure nothing: present the result of an earlier run.")
    private @Nullable Path from;

    /// Runs a comparison.
    public static void main(String[] arguments) {
        // The script gives its own defaults first.
        CommandLine line = new CommandLine(new CompareMain()).setOverwrittenOptionsAllowed(true);
        line.setParameterExceptionHandler((e, _) -> complain(line, 2, e));
        line.setExecutionExceptionHandler((e, _, _) -> {
            if (e instanceof CommandFailure || e instanceof IOException) {
                return complain(line, 1, e);
            }
            throw e;
        });
        System.exit(line.execute(arguments));
    }

    private static int complain(CommandLine line, int status, Exception e) {
        line.getErr().println("compare/run: " + e.getMessage());
        line.getErr().flush();
        return status;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (rounds < 1 || !(seconds > 0) || !(warmUp >= 0)) {
            throw new ParameterException(
                    spec.commandLine(), "--rounds must be at least 1, --duration above 0, and --warmup not negative");
        }
        List<Figure> earlier =
                baseline == null ? List.of() : ComparisonDocument.read(baseline).figures();
        if (from != null) {
            present(ComparisonDocument.read(from), earlier);
            return 0;
        }
        Optional<Halves> processors =
                noPin || programs != null || !Programs.exists("taskset") ? Optional.empty() : Halves.own();
        Setting setting = new Setting(command, seconds, warmUp, processors, jars);
        List<Scenario> chosen = chosen(setting);
        if (list) {
            chosen.forEach(scenario -> say("%-20s %s".formatted(scenario.id(), scenario.title())));
            return 0;
        }
        MachineLoad load = MachineLoad.now();
        say("processors: " + processors.map(CompareMain::text).orElse("chosen by the kernel"));
        if (load.isHigh()) {
            say("warning: this machine is busy, so the figures mean little: " + load);
        }
        try (Floor floor = new Peers(setting).floor()) {
            Comparison comparison = new Comparison(chosen, rounds, floor, this::say);
            List<Outcome> outcomes = comparison.run();
            present(new ComparisonDocument(facts(chosen, comparison, processors, load), outcomes), earlier);
            return outcomes.stream().allMatch(Outcome::isComplete) ? 0 : 1;
        }
    }

    private List<Scenario> chosen(Setting setting) {
        List<Scenario> all = all(setting);
        List<Scenario> chosen = all.stream()
                .filter(scenario -> only.isEmpty() || only.stream().anyMatch(scenario.id()::startsWith))
                .toList();
        for (String wanted : only) {
            if (all.stream().noneMatch(scenario -> scenario.id().startsWith(wanted))) {
                throw new ParameterException(
                        spec.commandLine(), "there is no scenario '" + wanted + "'; --list lists them");
            }
        }
        return chosen;
    }

    private List<Scenario> all(Setting setting) {
        if (programs != null) {
            return new ProgramScenarios(setting, programs).all();
        }
        Scenarios scenarios = new Scenarios(setting);
        return lab ? scenarios.lab() : scenarios.here();
    }

    private void present(ComparisonDocument document, List<Figure> earlier) throws IOException {
        Grid changes = document.changesSince(earlier);
        say("");
        say(document.text());
        if (!changes.rows().isEmpty()) {
            say("");
            say(changes.text().stripTrailing());
        } else if (baseline != null) {
            say("warning: this run and " + baseline + " have no figure in common");
        }
        if (json != null) {
            Files.writeString(json, document.json() + System.lineSeparator(), StandardCharsets.UTF_8);
        }
        if (report != null) {
            document.page(changes).write(report);
        }
    }

    private Map<String, Object> facts(
            List<Scenario> scenarios, Comparison comparison, Optional<Halves> processors, MachineLoad load) {
        Map<String, Object> environment = new LinkedHashMap<>();
        for (Scenario scenario : scenarios) {
            if (scenario.ours() instanceof Rdmacomm ours && !ours.machine().isEmpty()) {
                ours.machine().forEach((name, value) -> environment.put(String.valueOf(name), value));
                break;
            }
        }
        List.of("command", "device", "provider").forEach(environment::remove);
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("environment", environment);
        facts.put("versions", Versions.all());
        facts.put("processors", processors.map(CompareMain::text).orElse("chosen by the kernel"));
        facts.put("load before the run", load.toString());
        facts.put("rounds", rounds);
        facts.put("seconds of each measurement", seconds);
        if (!comparison.absences().isEmpty()) {
            facts.put("left out", String.join("; ", comparison.absences()));
        }
        return facts;
    }

    private static String text(Halves halves) {
        return "client on " + halves.first() + ", server on " + halves.second();
    }

    private void say(String line) {
        spec.commandLine().getOut().println(line);
        spec.commandLine().getOut().flush();
    }
}
