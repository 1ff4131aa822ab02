package io.rdmacomm.tests.simulation.clock;

/// The costs of messages and memory. A message keeps its sender busy for `sendNanos`, then its bytes pass the sender's
/// link one after the other, and `latencyNanos` later they have arrived; taking it keeps the receiver busy for
/// `receiveNanos`. Links inside the network never collide.
///
/// @param name for people
/// @param latencyNanos from the link of the sender into the memory of the receiver
/// @param sendNanos the sender's processor, for each work request
/// @param receiveNanos the receiver's processor, for each message
/// @param wireNanosPerByte one by the speed of a link
/// @param copyNanosPerByte a copy in memory
/// @param reduceNanosPerByte a reduction of two numbers, by their length
public record Network(
        String name,
        double latencyNanos,
        double sendNanos,
        double receiveNanos,
        double wireNanosPerByte,
        double copyNanosPerByte,
        double reduceNanosPerByte) {
    /// An exchange of 8 bytes takes 1.3 us over shared memory (docs/44-collectives.md), nearly all of it the processor.
    private static final double MESSAGE_NANOS = 650;
    /// A broadcast of 16 MiB to one rank takes 1396 us.
    private static final double COPY_NANOS = 0.083;
    /// An all-reduce of 16 MiB of two ranks takes 3146 us: two copies of 8 MiB and a reduction of 8 MiB.
    private static final double REDUCE_NANOS = 0.21;

    /// Adapters of 100 Gbit/s. The figures of the processor and of memory are measured, those of the network assumed.
    public static Network adapters() {
        return new Network("100 Gbit/s RDMA", 2000, MESSAGE_NANOS, MESSAGE_NANOS, 0.08, COPY_NANOS, REDUCE_NANOS);
    }

    /// The software device over TCP: half of the 57 us that a round trip takes in blocking calls, and as much
    /// processor time as is measured beside it, for a link of 10 Gbit/s, which is assumed.
    public static Network tcp() {
        return new Network("10 Gbit/s TCP", 22_000, 3000, 3000, 0.8, COPY_NANOS, REDUCE_NANOS);
    }

    /// Time is the number of messages of which each needed the one before.
    public static Network hops() {
        return new Network("hops", 1, 0, 0, 0, 0, 0);
    }
}
