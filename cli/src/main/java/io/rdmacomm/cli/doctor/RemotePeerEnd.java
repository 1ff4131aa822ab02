package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.List;

/// The other end of a connection, on another host.
final class RemotePeerEnd implements PeerEnd {
    private final FrameChannel<SelfTestMessage> control;
    private final PeerEnd.Offer offer;
    private boolean open = true;

    RemotePeerEnd(FrameChannel<SelfTestMessage> control, PeerEnd.Offer offer) {
        this.control = control;
        this.offer = offer;
    }

    private Frame<SelfTestMessage> ask(Frame<SelfTestMessage> request) {
        // A check that took too long may still be running here.
        synchronized (control) {
            control.send(request);
            return control.expect(SelfTestMessage.OK, SelfTestMessage.FAILED);
        }
    }

    @Override
    public PeerEnd.Offer offer() {
        return offer;
    }

    @Override
    public void connect(QueuePairInfo near) {
        ask(SelfTestMessage.connect(near));
    }

    @Override
    public void awaitAccepted() {
        ask(Frame.of(SelfTestMessage.ACCEPTED));
    }

    @Override
    public boolean isIntact() {
        return ask(Frame.of(SelfTestMessage.INTACT)).number(0) == 1;
    }

    @Override
    public List<WorkStatus> receives(int count, Duration limit) {
        return ask(Frame.of(SelfTestMessage.RECEIVES, count, limit.toMillis())).numbers().stream()
                .map(code -> WorkStatus.of(Math.toIntExact(code)))
                .toList();
    }

    @Override
    public void close() {
        if (open) {
            open = false;
            ask(Frame.of(SelfTestMessage.CLOSE));
        }
    }
}
