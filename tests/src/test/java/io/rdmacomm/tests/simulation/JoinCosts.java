package io.rdmacomm.tests.simulation;

import io.rdmacomm.comm.mesh.SimulatedRendezvous;

/// The costs of joining a mesh, and the limits of those who accept. Times are in nanoseconds.
///
/// @param spread between the start of the first node and that of the last one
/// @param latency of the network, one way
/// @param wirePerByte one by the speed of a link
/// @param accept the processor, for a TCP connection that is accepted
/// @param register the processor, for a node that comes to the rendezvous
/// @param prepare the processor on each side, to create the queue pairs and memory of a connection
/// @param bringUp the processor on each side, to connect its queue pairs and post receives
/// @param introduce the processor on each side, for the first message
/// @param backlog the TCP connections that wait to be accepted; further ones are dropped
/// @param mostSettingUp the connections that a session sets up at a time; further ones are refused
/// @param mostUnknown the connections of which the rendezvous knows nothing yet; further ones are closed
/// @param retransmit after this time a TCP connection that was dropped is tried again, then after twice that, and so on
/// @param retry after this time a node that was refused would try again. The library does not: its join fails
record JoinCosts(
        double spread,
        double latency,
        double wirePerByte,
        double accept,
        double register,
        double prepare,
        double bringUp,
        double introduce,
        int backlog,
        int mostSettingUp,
        int mostUnknown,
        double retransmit,
        double retry) {
    private static final double MICROS = 1e3;
    private static final double SECONDS = 1e9;

    /// All nodes start at the same moment. [Calibration] has measured 3.5 ms of processor time for each end of a
    /// connection over TCP; how it is divided is
    /// assumed, and so are the other times and the network of 10 Gbit/s. The limits are those of TcpListener,
    /// ServerSession and RendezvousHost; Linux tries a dropped SYN again after 1, 2, 4 ... seconds.
    static JoinCosts usual() {
        return new JoinCosts(
                0,
                22 * MICROS,
                0.8,
                20 * MICROS,
                60 * MICROS,
                2000 * MICROS,
                1000 * MICROS,
                500 * MICROS,
                1024,
                1024,
                SimulatedRendezvous.MOST_UNKNOWN,
                SECONDS,
                SECONDS);
    }

    /// These with nodes that start one after the other.
    ///
    /// @param seconds between the first and the last one
    JoinCosts startingWithin(double seconds) {
        return new JoinCosts(
                seconds * SECONDS,
                latency,
                wirePerByte,
                accept,
                register,
                prepare,
                bringUp,
                introduce,
                backlog,
                mostSettingUp,
                mostUnknown,
                retransmit,
                retry);
    }

    /// These with other limits.
    JoinCosts withLimits(int newBacklog, int newMostSettingUp, int newMostUnknown) {
        return new JoinCosts(
                spread,
                latency,
                wirePerByte,
                accept,
                register,
                prepare,
                bringUp,
                introduce,
                newBacklog,
                newMostSettingUp,
                newMostUnknown,
                retransmit,
                retry);
    }
}
