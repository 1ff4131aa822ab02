package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OwnProgram;
import io.rdmacomm.cli.command.ProgressLine;
import io.rdmacomm.cli.report.BenchDocument;
import io.rdmacomm.cli.report.Rounds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/// Runs `rdmacomm bench` several times, each time in new processes, because all figures of one process depend on
/// the same JIT compilation and memory placement.
final class BenchRounds {
    private static final Set<String> NOT_REPEATED = Set.of("--rounds", "--json", "--csv", "--report", "--baseline");

    private final List<String> arguments;
    private final int rounds;

    /// @param arguments the arguments of the subcommand, as the user typed them
    BenchRounds(List<String> arguments, int rounds) {
        this.arguments = ofOneRound(arguments);
        this.rounds = rounds;
    }

    /// The arguments without the number of rounds and the output files.
    static List<String> ofOneRound(List<String> arguments) {
        List<String> kept = new ArrayList<>();
        for (Iterator<String> all = arguments.iterator(); all.hasNext(); ) {
            String argument = all.next();
            String name = argument.split("=", 2)[0];
            if (!NOT_REPEATED.contains(name)) {
                kept.add(argument);
            } else if (name.equals(argument) && all.hasNext()) {
                all.next();
            }
        }
        kept.addAll(List.of("--json", "-"));
        return kept;
    }

    /// Runs all rounds. Blocks.
    Rounds run(ProgressLine progress) throws IOException {
        List<BenchDocument> documents = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
            progress.show("round " + round + " of " + rounds);
            documents.add(once("round " + round));
        }
        return new Rounds(documents);
    }

    private BenchDocument once(String name) throws IOException {
        Path errors = Files.createTempFile("rdmacomm-round-", "");
        try {
            Process process =
                    OwnProgram.builder(arguments).redirectError(errors.toFile()).start();
            try (CloseOnExit _ = new CloseOnExit(process::destroyForcibly)) {
                process.getOutputStream().close();
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                int status = process.waitFor();
                if (status != 0) {
                    throw new CommandFailure(name + " failed with exit status " + status + ": "
                            + Files.readString(errors).strip());
                }
                return BenchDocument.parse(name, output);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailure(name + " was interrupted", e);
            }
        } finally {
            Files.delete(errors);
        }
    }
}
