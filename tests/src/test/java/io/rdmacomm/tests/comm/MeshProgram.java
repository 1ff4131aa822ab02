package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;

import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.NodeFailedException;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;

/// A node of a mesh in a process of its own, and the way to start it.
final class MeshProgram implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private MeshProgram(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    static MeshProgram start(int rank, int size, int port) throws IOException {
        List<String> command = JavaCommand.of(MeshProgram.class, List.of("-Xmx256m"));
        command.addAll(List.of("" + rank, "" + size, "" + port));
        return new MeshProgram(
                new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
    }

    String readLine() throws IOException {
        return output.readLine();
    }

    /// kill -9.
    void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /// Joins, waits for a message of rank 0 that never comes, and prints how that ended, and which rank the mesh has
    /// lost.
    public static void main(String[] arguments) {
        Rendezvous rendezvous = Rendezvous.of(
                Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]),
                "localhost",
                Integer.parseInt(arguments[2]));
        try (Mesh mesh = Mesh.join(rendezvous, SessionOptions.defaults(), TIMEOUT)) {
            System.out.println("joined");
            try (Message message = mesh.node(0).channel().blocking(TIMEOUT).receive()) {
                System.out.println("received " + message);
            } catch (RdmaException e) {
                System.out.println(e.getMessage());
            }
            eventually(() -> mesh.failure() != null);
            NodeFailedException failure = mesh.failure();
            System.out.println("lost rank " + (failure == null ? "?" : failure.rank()));
        }
    }
}
