package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/// A manager whose messages go to itself.
final class Loop {
    private final Queue<ByteBuffer> sent = new ArrayDeque<>();
    final CommunicationManager manager = new CommunicationManager(
            Gid.of(ManagerCase.HERE),
            PathMtu.MTU_1024,
            (_, bytes) -> sent.add(ByteBuffer.allocate(ManagementDatagram.BYTES)
                    .put(bytes.slice(0, ManagementDatagram.BYTES))
                    .clear()),
            () -> {});

    /// Lets all messages arrive, and what they cause.
    void deliver() {
        for (ByteBuffer next = sent.poll(); next != null; next = sent.poll()) {
            manager.arrived(ManagerCase.HERE, next);
        }
    }

    Conversation connect() {
        return manager.connect(
                ManagerCase.HERE,
                id -> ManagerCase.request(
                        id, 0x0106_0000L + ManagerCase.PORT, ManagerCase.OWN_NUMBER, true, 3, ManagerCase.HERE));
    }
}
