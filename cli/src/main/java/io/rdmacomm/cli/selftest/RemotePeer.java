package io.rdmacomm.cli.selftest;

import io.rdmacomm.cli.wire.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;

/// Makes the other ends on another host, where a [SelfTestServer] runs.
public final class RemotePeer implements Peer, AutoCloseable {
    static final String NAME = "doctor control";

    private final ClientSession session;
    private final FrameChannel<SelfTestMessage> control;

    private RemotePeer(ClientSession session) {
        this.session = session;
        this.control = SelfTestMessage.over(session, session.endPoint(), NAME);
    }

    /// Connects to the server that `options` name. Blocks.
    public static RemotePeer connect(SessionOptions options) {
        return new RemotePeer(ClientSession.connect(options.withName(NAME)));
    }

    @Override
    public Far open(EndPlan plan) {
        synchronized (control) {
            control.send(SelfTestMessage.open(plan));
            return new RemoteFar(
                    control, SelfTestMessage.offer(control.expect(SelfTestMessage.OPENED, SelfTestMessage.FAILED)));
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
