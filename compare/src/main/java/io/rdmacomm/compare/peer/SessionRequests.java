package io.rdmacomm.compare.peer;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.time.Duration;

/// Requests through a session of rdmacomm whose callers poll, or wait as they do by default.
final class SessionRequests implements NewJvm.Kind {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final boolean polling;

    SessionRequests(boolean polling) {
        this.polling = polling;
    }

    @Override
    public void serve(Task task) {
        try (ServerSession server = ServerSession.listen(options(task));
                EndPoint client = server.accept(TIMEOUT)) {
            BlockingChannel channel = client.channel(0).blocking(TIMEOUT);
            BufferSlice answer = server.allocate("answer", task.bytes()).whole();
            while (receive(channel)) {
                channel.send(answer);
            }
        }
    }

    private static boolean receive(BlockingChannel channel) {
        try {
            channel.receive().close();
            return true;
        } catch (PeerDoneException _) {
            return false;
        }
    }

    @Override
    public NewJvm.Connection connect(Task task) {
        ClientSession session = ClientSession.connect(options(task));
        BlockingChannel channel = session.endPoint().channel(0).blocking(TIMEOUT);
        BufferSlice request = session.allocate("request", task.bytes()).whole();
        return new NewJvm.Connection() {
            @Override
            public void request() {
                channel.send(request);
                try (Message _ = channel.receive()) {
                    // Its arrival is the answer.
                }
            }

            @Override
            public void close() {
                session.close();
            }
        };
    }

    private SessionOptions options(Task task) {
        SessionOptions options = SessionOptions.defaults().withAddress("127.0.0.1", task.port());
        return polling ? options.withThreadMode(ThreadMode.CALLER).withWorkMode(WorkMode.POLLING) : options;
    }
}
