package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.rig.Clients;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerLimits;
import io.rdmacomm.comm.ServerSession;

/// Receives files over RDMA.
final class RdmaCopyServer implements CopyServer {
    private final ListenOptions listen;
    private final ServerSession session;
    private final CopyService service;

    RdmaCopyServer(ListenOptions listen, CopyOptions copy, CopyService service) {
        this.listen = listen;
        this.service = service;
        this.session = ServerSession.listen(listen.apply(copy.session("recv"))
                .withMaxChannels(1)
                .withLimits(PeerLimits.defaults()
                        .withEndPoints(CopyService.MOST_SENDERS)
                        .withEndPointsPerAddress(CopyService.MOST_SENDERS_OF_AN_ADDRESS)
                        .withBuffers(1)));
    }

    @Override
    public String line() {
        return listen.line(session.port(), session.options());
    }

    @Override
    public int run(boolean once) {
        long number = 1;
        for (EndPoint sender = Clients.next(session); sender != null; sender = Clients.next(session)) {
            if (once) {
                return serve(sender, number);
            }
            EndPoint next = sender;
            long id = number++;
            service.start("recv-" + id, () -> serve(next, id), next::close);
        }
        return 0;
    }

    private int serve(EndPoint sender, long id) {
        try (EndPoint endPoint = sender) {
            return service.serve(
                    endPoint.peerAddress(), () -> new RdmaReceiverLink(session, endPoint, id, service.memory()));
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
