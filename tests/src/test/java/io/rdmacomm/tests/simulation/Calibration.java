package io.rdmacomm.tests.simulation;

import com.sun.management.OperatingSystemMXBean;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.comm.mesh.Mesh;
import java.lang.management.ManagementFactory;
import java.util.List;

/// Joins real meshes in this process, and prints what a connection costs: figures for [JoinCosts].
/// Arguments: the port of the rendezvous, and the number of nodes of each mesh.
public final class Calibration {
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ).withWorkMode(WorkMode.COMPLETION_CHANNEL);

    private Calibration() {}

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            measure(Integer.parseInt(arguments[i]), port);
        }
    }

    private static void measure(int size, int port) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long heap = heapBytes();
        long processor = system.getProcessCpuTime();
        long start = System.nanoTime();
        List<Mesh> meshes = RealMesh.join(size, port, OPTIONS);
        long nanos = System.nanoTime() - start;
        processor = system.getProcessCpuTime() - processor;
        long joined = heapBytes();
        meshes.forEach(Mesh::collectives);
        long all = heapBytes();
        long ends = (long) size * (size - 1);
        System.out.printf(
                "%d nodes, %d connections: %.3f s; processor %d us and heap %d bytes for each end of one; heap of"
                        + " collectives %d bytes%n",
                size, ends / 2, nanos / 1e9, processor / 1000 / ends, (joined - heap) / ends, (all - joined) / ends);
        RealMesh.onAll(meshes, Mesh::close);
    }

    private static long heapBytes() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
