package io.rdmacomm.mesh.launch;

/// A port that all nodes of a job compute from its name. Below 0x4000, where neither software devices nor the
/// system choose ports at random; so that two jobs on one host rarely meet.
final class DerivedPort {
    private static final int FIRST = 10_000;
    private static final int COUNT = 6_000;
    private static final int SPREAD = 0x9e3779b1;

    private DerivedPort() {}

    static int of(String job) {
        return FIRST + Integer.remainderUnsigned(job.hashCode() * SPREAD, COUNT);
    }
}
