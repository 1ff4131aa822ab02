package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.verbs.cm.ConnectionManager;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// Runs a server for the clients of C programs, and shows what it does.
public final class InteropServing {
    private InteropServing() {}

    /// Serves clients until Ctrl-C, or one client. Blocks.
    ///
    /// @param listen where it listens
    /// @param manager closed on Ctrl-C, which ends the connections of the server; null if it uses none
    public static void serve(
            InteropServer server,
            ListenOptions listen,
            @Nullable ConnectionManager manager,
            boolean once,
            CommandOutput output)
            throws IOException, InterruptedException {
        Runnable closeManager = manager == null ? () -> {} : manager::close;
        try (CloseOnExit _ = new CloseOnExit(server::close, closeManager)) {
            output.println(listen.line(server.port()));
            if (once) {
                server.runOnce(output::println);
            } else {
                server.run(output::println, output::complain);
            }
        }
    }
}
