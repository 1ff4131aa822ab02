package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.CollectiveCase.TIMEOUT;

import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.NodeFailedException;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.mesh.collective.Reduction;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// A rank in a process of its own, and the way to start it.
final class CollectiveProgram implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private CollectiveProgram(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    /// Starts a rank that runs `work`, see [#main].
    static CollectiveProgram start(MeshDevice device, int rank, int size, int port, String... work) throws IOException {
        List<String> options = new ArrayList<>(List.of("-Xmx256m"));
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("rdmacomm.") || name.startsWith("rdma.test.")) {
                boolean devices = name.equals("rdmacomm.soft.devices");
                String value = devices ? Fabric.devicesOfProcess(rank) : System.getProperty(name);
                options.add("-D" + name + "=" + value);
            }
        }
        List<String> command = JavaCommand.of(CollectiveProgram.class, options);
        command.addAll(List.of(device.name(), device.host(), "" + rank, "" + size, "" + port));
        command.addAll(List.of(work));
        return new CollectiveProgram(
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

    /// Joins the mesh that a device, a host, a rank, a size and a port describe. `cases SEED COUNT` runs cases and
    /// prints `done`; `sums` adds up until a rank dies, and prints which.
    public static void main(String[] arguments) {
        MeshDevice device = new MeshDevice(arguments[0], arguments[1]);
        int size = Integer.parseInt(arguments[3]);
        try (Mesh mesh = join(device, Integer.parseInt(arguments[2]), size, Integer.parseInt(arguments[4]))) {
            if (arguments[5].equals("cases")) {
                Random random = new Random(Long.parseLong(arguments[6]));
                CollectiveCase.runAll(CollectiveCase.some(random, size, Integer.parseInt(arguments[7])), mesh);
                System.out.println("done");
            } else {
                sumUntilARankDies(mesh, () -> System.out.println("summing"));
            }
        } catch (NodeFailedException e) {
            System.out.println("lost rank " + e.rank());
        }
    }

    static Mesh join(MeshDevice device, int rank, int size, int port) {
        String host = device.host().isEmpty() ? "localhost" : device.host();
        Mesh mesh = Mesh.join(Rendezvous.of(rank, size, host, port), device.options(), TIMEOUT);
        mesh.collectives(Ranks.SMALL);
        return mesh;
    }

    /// Never returns.
    ///
    /// @param afterTheFirst runs after the first sum
    static void sumUntilARankDies(Mesh mesh, Runnable afterTheFirst) {
        for (int round = 0; true; round++) {
            long[] numbers = new long[50_000];
            numbers[round % numbers.length] = mesh.rank();
            mesh.collectives().allReduce(numbers, Reduction.SUM, TIMEOUT);
            if (numbers[round % numbers.length] != mesh.size() * (mesh.size() - 1L) / 2) {
                throw new AssertionError("round " + round + " gave " + numbers[round % numbers.length]);
            }
            if (round == 0) {
                afterTheFirst.run();
            }
        }
    }
}
