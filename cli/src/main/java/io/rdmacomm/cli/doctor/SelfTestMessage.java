package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.FrameCodec;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RemoteMemory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The control messages of a self-test between two hosts. The client works with one end of the server at a
/// time.
enum SelfTestMessage {
    /// Confirms a request; its numbers are the answer.
    OK,
    /// Rejects a request; the text explains it.
    FAILED,
    /// The client asks for an end of these sizes: an [EndPlan].
    OPEN,
    /// The server has created the end: a [PeerEnd.Offer].
    OPENED,
    /// The client asks the server to connect its end to a queue pair.
    CONNECT,
    /// The client asks whether the server's end has accepted its connection.
    ACCEPTED,
    /// The client asks whether the closed memory is intact.
    INTACT,
    /// The client asks how a number of receives ended.
    RECEIVES,
    /// The client no longer needs the end.
    CLOSE;

    /// How long either side waits for a message.
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    /// Frames with the magic "RCD1".
    private static final FrameCodec<SelfTestMessage> CODEC = new FrameCodec<>(
            0x52434431, SelfTestMessage.class, "start `rdmacomm doctor --serve` there, in the same version");

    private static final int NUMBERS = 6;

    /// Exchanges control messages with the peer of `endPoint`.
    static FrameChannel<SelfTestMessage> over(Session session, EndPoint endPoint, String bufferName) {
        return new FrameChannel<>(session, endPoint.channel(0), CODEC, bufferName, TIMEOUT);
    }

    static Frame<SelfTestMessage> open(EndPlan plan) {
        return Frame.of(OPEN, plan.sends(), plan.completions(), plan.receives(), plan.receiveBytes());
    }

    static EndPlan plan(Frame<SelfTestMessage> frame) {
        return new EndPlan(integer(frame, 0), integer(frame, 1), integer(frame, 2), integer(frame, 3));
    }

    static Frame<SelfTestMessage> connect(QueuePairInfo info) {
        return Frame.of(
                CONNECT,
                info.number(),
                info.packetSequenceNumber(),
                info.lid(),
                info.gid().high(),
                info.gid().low(),
                info.mtu().code());
    }

    static QueuePairInfo numbers(Frame<SelfTestMessage> frame) {
        return new QueuePairInfo(
                integer(frame, 0),
                integer(frame, 1),
                integer(frame, 2),
                new Gid(frame.number(3), frame.number(4)),
                mtu(frame.number(5)));
    }

    private static PathMtu mtu(long code) {
        for (PathMtu mtu : PathMtu.values()) {
            if (mtu.code() == code) {
                return mtu;
            }
        }
        throw new CommandFailure("the peer sent the unknown path MTU " + code);
    }

    static Frame<SelfTestMessage> opened(PeerEnd.Offer offer) {
        Frame<SelfTestMessage> numbers = connect(offer.numbers());
        long[] all = new long[NUMBERS + 7];
        for (int i = 0; i < NUMBERS; i++) {
            all[i] = numbers.number(i);
        }
        InetSocketAddress address = offer.address();
        all[NUMBERS] = offer.open().address();
        all[NUMBERS + 1] = offer.open().length();
        all[NUMBERS + 2] = offer.open().key();
        all[NUMBERS + 3] = offer.closed().address();
        all[NUMBERS + 4] = offer.closed().length();
        all[NUMBERS + 5] = offer.closed().key();
        all[NUMBERS + 6] = address == null ? 0 : address.getPort();
        return Frame.of(OPENED, address == null ? "" : address.getAddress().getHostAddress(), all);
    }

    /// @param host where the server is: it cannot name another host to connect to
    static PeerEnd.Offer offer(Frame<SelfTestMessage> frame, InetAddress host) {
        return new PeerEnd.Offer(
                numbers(frame),
                frame.text().isEmpty() ? null : new InetSocketAddress(host, integer(frame, NUMBERS + 6)),
                memory(frame, NUMBERS),
                memory(frame, NUMBERS + 3));
    }

    private static RemoteMemory memory(Frame<SelfTestMessage> frame, int at) {
        return new RemoteMemory(frame.number(at), frame.number(at + 1), (int) frame.number(at + 2));
    }

    /// Narrows a number. One that is out of range stays out of range.
    private static int integer(Frame<SelfTestMessage> frame, int index) {
        return Math.clamp(frame.number(index), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }
}
