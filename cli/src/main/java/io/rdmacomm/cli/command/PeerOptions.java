package io.rdmacomm.cli.command;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// The options that make a command the server, or the client of a server.
public final class PeerOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "HOST[:PORT]",
            converter = PeerAddress.Converter.class,
            description = "The server: where `${COMMAND-FULL-NAME} --server` runs.")
    private @Nullable PeerAddress address;

    @Option(names = "--server", description = "Serve clients until Ctrl-C.")
    private boolean server;

    @Option(names = "--once", description = "With --server: exit after one client.")
    private boolean once;

    /// The server's address; null if none was given.
    @Nullable
    public PeerAddress address() {
        return address;
    }

    public boolean isServer() {
        return server;
    }

    public boolean isOnce() {
        return once;
    }

    /// Checks that the options do not contradict each other.
    ///
    /// @throws ParameterException if they do
    public void check() {
        if (server) {
            Excludes.check(spec, "--server", "HOST", address != null);
            Excludes.check(spec, "--server", List.of("--json"));
            return;
        }
        require("--server", "--once");
        if (address == null) {
            require("--server or HOST", "--port");
        } else {
            require("--server", "--bind");
        }
    }

    private void require(String side, String option) {
        if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
            throw new ParameterException(spec.commandLine(), option + " needs " + side);
        }
    }
}
