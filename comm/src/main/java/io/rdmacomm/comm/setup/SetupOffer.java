package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;

/// The ways in which a side can connect its queue pairs; a server answers with one of the client's.
///
/// @param numbers whether by exchanged numbers
/// @param connections whether by the connection manager
/// @param port the port of the server's connection manager; 0 if it does not listen
/// @param token the number that connection requests of the client carry
public record SetupOffer(boolean numbers, boolean connections, int port, long token) {
    private static final int NUMBERS_BIT = 1;
    private static final int CONNECTIONS_BIT = 2;

    /// The ways that the device supports and the options allow.
    public static SetupOffer of(Context context, boolean allowNumbers, boolean allowConnections) {
        return new SetupOffer(
                allowNumbers && context.supports(Capability.CONNECT_BY_NUMBERS),
                allowConnections && context.supports(Capability.CONNECTION_MANAGER),
                0,
                0);
    }

    /// Whether two sides with these offers connect by numbers.
    ///
    /// @throws SetupException OTHER if they have no way in common
    public boolean agreeOnNumbers(SetupOffer peer, String peerName) {
        if (numbers && peer.numbers) {
            return true;
        }
        if (connections && peer.connections) {
            return false;
        }
        throw new SetupException(
                Reason.OTHER,
                "this side can connect " + this + ", " + peerName + " " + peer
                        + "; choose devices of the same kind on both sides",
                null);
    }

    int bits() {
        return (numbers ? NUMBERS_BIT : 0) | (connections ? CONNECTIONS_BIT : 0);
    }

    static SetupOffer decode(int bits, int port, long token) {
        return new SetupOffer((bits & NUMBERS_BIT) != 0, (bits & CONNECTIONS_BIT) != 0, port, token);
    }

    @Override
    public String toString() {
        if (numbers) {
            return connections ? "by numbers and by connection manager" : "by numbers only";
        }
        return connections ? "by connection manager only" : "in no way";
    }
}
