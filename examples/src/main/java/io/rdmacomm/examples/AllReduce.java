package io.rdmacomm.examples;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.mesh.collective.Reduction;
import java.time.Duration;
import java.util.Random;

/// Data-parallel training in its smallest form: the nodes fit a line to points. Each node has its own points and
/// computes their gradient. One all-reduce adds the gradients of all nodes, and then all make the same step.
///
/// ```
/// java -cp rdmacomm.jar io.rdmacomm.examples.AllReduce [RANK SIZE HOST PORT]
/// mpirun -n 4 env java -cp rdmacomm.jar io.rdmacomm.examples.AllReduce
/// ```
///
/// Put many numbers into a buffer of `mesh.allocate`, which is sent without copying.
public final class AllReduce {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int STEPS = 200;
    private static final int POINTS = 1000;
    private static final double RATE = 0.5;
    private static final double SLOPE = 3;
    private static final double INTERCEPT = 2;

    private AllReduce() {}

    /// Runs one node, or four.
    public static void main(String[] arguments) {
        MeshNodes.run(arguments, AllReduce::train);
    }

    private static void train(Rendezvous rendezvous) {
        try (Mesh mesh = Mesh.join(rendezvous, SessionOptions.defaults())) {
            double slope = 0;
            double intercept = 0;
            for (int step = 0; step < STEPS; step++) {
                double[] gradient = gradient(mesh.rank(), slope, intercept);
                mesh.collectives().allReduce(gradient, Reduction.SUM, TIMEOUT);
                slope -= RATE * gradient[0] / mesh.size();
                intercept -= RATE * gradient[1] / mesh.size();
            }
            // The sum has the same bits on all nodes, and so does the line.
            System.out.printf("rank %d of %d: y = %.3f x + %.3f%n", mesh.rank(), mesh.size(), slope, intercept);
        }
    }

    /// The gradient of the mean squared error of a line, for the points of one node.
    private static double[] gradient(int rank, double slope, double intercept) {
        Random random = new Random(rank);
        double[] gradient = new double[2];
        for (int i = 0; i < POINTS; i++) {
            double x = random.nextDouble(-1, 1);
            double y = SLOPE * x + INTERCEPT;
            double error = slope * x + intercept - y;
            gradient[0] += 2 * error * x / POINTS;
            gradient[1] += 2 * error / POINTS;
        }
        return gradient;
    }
}
