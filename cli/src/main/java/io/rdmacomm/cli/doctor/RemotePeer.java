package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.ReceivedNumbers;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;

/// Creates the other ends on another host, where a [SelfTestServer] runs.
final class RemotePeer implements Peer, AutoCloseable {
    static final String NAME = "doctor control";

    private final ClientSession session;
    private final FrameChannel<SelfTestMessage> control;

    private RemotePeer(ClientSession session) {
        this.session = session;
        this.control = SelfTestMessage.over(session, session.endPoint(), NAME);
    }

    /// Connects to the server that `options` name. Blocks.
    static RemotePeer connect(SessionOptions options) {
        return new RemotePeer(ClientSession.connect(options.withName(NAME)));
    }

    /// Whether the connection manager connects the ends, as it did this session.
    boolean isByAddress() {
        return session.endPoint().setup() == Setup.CONNECTION_MANAGER;
    }

    @Override
    public PeerEnd open(EndPlan plan) {
        synchronized (control) {
            control.send(SelfTestMessage.open(plan));
            Frame<SelfTestMessage> opened = control.expect(SelfTestMessage.OPENED, SelfTestMessage.FAILED);
            PeerEnd.Offer offer =
                    SelfTestMessage.offer(opened, session.endPoint().remoteAddress());
            if (offer.address() == null) {
                ReceivedNumbers.check(offer.numbers(), session.endPoint());
            }
            return new RemotePeerEnd(control, offer);
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
