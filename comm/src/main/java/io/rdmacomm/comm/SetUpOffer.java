package io.rdmacomm.comm;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;

/// How a side can have its queue pairs connected; what a server answers is one of the client's.
///
/// @param numbers whether by exchanged numbers
/// @param connections whether by the connection manager
/// @param port where the server's connection manager listens; 0 where it does not
/// @param token what a connection request has to carry, so that it is the client's
record SetUpOffer(boolean numbers, boolean connections, int port, long token) {
    private static final int NUMBERS_BIT = 1;
    private static final int CONNECTIONS_BIT = 2;

    /// What the device can do, as far as the options allow it.
    static SetUpOffer of(Context context, SetUp wanted) {
        return new SetUpOffer(
                wanted != SetUp.CONNECTION_MANAGER && context.supports(Capability.CONNECT_BY_NUMBERS),
                wanted != SetUp.NUMBERS && context.supports(Capability.CONNECTION_MANAGER),
                0,
                0);
    }

    /// Whether two sides with these offers connect by numbers.
    ///
    /// @throws CommException if they have no way in common
    boolean agreeOnNumbers(SetUpOffer peer, String peerName) {
        if (numbers && peer.numbers) {
            return true;
        }
        if (connections && peer.connections) {
            return false;
        }
        throw new CommException(
                "this side can connect " + this + ", " + peerName + " " + peer
                        + "; choose devices of the same kind on both sides",
                null);
    }

    int bits() {
        return (numbers ? NUMBERS_BIT : 0) | (connections ? CONNECTIONS_BIT : 0);
    }

    static SetUpOffer decode(int bits, int port, long token) {
        return new SetUpOffer((bits & NUMBERS_BIT) != 0, (bits & CONNECTIONS_BIT) != 0, port, token);
    }

    @Override
    public String toString() {
        if (numbers) {
            return connections ? "by numbers and by connection manager" : "by numbers only";
        }
        return connections ? "by connection manager only" : "in no way";
    }
}
