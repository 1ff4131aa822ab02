package io.rdmacomm.soft.roce.mad;

import io.rdmacomm.verbs.Gid;
import java.util.List;
import java.util.Random;

/// Messages whose fields are random.
final class RandomMessages {
    private static final int NUMBERS = 1 << 24;
    private static final int OCTETS = 1 << 8;

    private final Random random;

    RandomMessages(Random random) {
        this.random = random;
    }

    /// One message of each kind.
    List<ConnectionMessage> all() {
        int id = random.nextInt();
        int peerId = random.nextInt();
        return List.of(
                connectRequest(id),
                new Receipt(id, peerId, kind(), random.nextInt(32)),
                rejection(id, peerId),
                new ConnectReply(
                        id, peerId, number(), number(), depths(), random.nextInt(8), random.nextLong(), bytes(196)),
                new ReadyToUse(id, peerId),
                new DisconnectRequest(id, peerId, number()),
                new DisconnectReply(id, peerId),
                new ServiceRequest(id, random.nextLong(), addresses(), bytes(180)),
                new ServiceReply(id, octet(), number(), random.nextLong(), random.nextInt(), bytes(136)));
    }

    private ConnectRequest connectRequest(int id) {
        return new ConnectRequest(
                id,
                random.nextLong(),
                random.nextLong(),
                number(),
                number(),
                depths(),
                random.nextBoolean(),
                random.nextInt(16),
                random.nextInt(8),
                random.nextInt(8),
                random.nextInt(32),
                octet(),
                gid(),
                gid(),
                addresses(),
                bytes(56));
    }

    private Rejection rejection(int id, int peerId) {
        return new Rejection(id, peerId, kind(), random.nextInt(1 << 16), random.nextLong(), bytes(148));
    }

    private MessageKind kind() {
        MessageKind[] kinds = MessageKind.values();
        return kinds[random.nextInt(kinds.length)];
    }

    private ProgramAddress addresses() {
        return new ProgramAddress(random.nextInt(1 << 16), Gid.ofIpv4(random.nextInt()), Gid.ofIpv4(random.nextInt()));
    }

    private Gid gid() {
        return new Gid(random.nextLong(), random.nextLong());
    }

    private ReadDepths depths() {
        return new ReadDepths(octet(), octet());
    }

    private int number() {
        return random.nextInt(NUMBERS);
    }

    private int octet() {
        return random.nextInt(OCTETS);
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
