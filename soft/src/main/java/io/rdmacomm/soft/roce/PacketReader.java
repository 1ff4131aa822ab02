package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.wire.IdentificationCheck;
import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketFault;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.locks.ReentrantLock;

/// Reads the packets of a socket, checks them, and counts damaged ones. Any thread, one at a time.
final class PacketReader implements AutoCloseable {
    /// Takes the packets of a socket, on the receiving thread.
    interface Receiver {
        /// A packet with a correct checksum has arrived.
        ///
        /// @param packet its headers, valid until this returns
        /// @param from its bytes and its sender, valid until this returns
        void arrived(Packet packet, PacketInput from);

        /// The thread stops receiving, perhaps because no packets are left.
        default void paused() {}
    }

    private static final SafeLogger LOGGER = SafeLogger.of(PacketReader.class);

    private final PacketInput input;
    private final int address;
    private final RoceCounters counters;
    private final Receiver receiver;
    private final ReentrantLock receiving = new ReentrantLock();
    private final InvariantCrc crc = new InvariantCrc();
    private final Packet packet = new Packet();
    private boolean closed;

    /// @param input its channel is closed with this reader
    /// @param address the address that its packets are sent to
    PacketReader(PacketInput input, int address, RoceCounters counters, Receiver receiver) {
        this.input = input;
        this.address = address;
        this.counters = counters;
        this.receiver = receiver;
    }

    /// The channel, for a selector.
    DatagramChannel channel() {
        return input.channel();
    }

    /// Receives packets, unless another thread does. Without the send lock of any queue pair.
    ///
    /// @param most the most packets to receive, not counting others that come in the same call as the last one
    /// @return false if another thread does
    boolean receive(int most) {
        if (!receiving.tryLock()) {
            return false;
        }
        int count = 0;
        try {
            while (!closed && (count < most || input.hasMore()) && input.next()) {
                receiveOne();
                count++;
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> "cannot receive for " + receiver, e);
        } finally {
            try {
                receiver.paused();
            } finally {
                receiving.unlock();
            }
        }
        return true;
    }

    private void receiveOne() {
        counters.received.getAndIncrement();
        PacketFault fault = check();
        switch (fault) {
            case NONE -> receiver.arrived(packet, input);
            case CHECKSUM -> counters.wrongChecksums.getAndIncrement();
            case TOO_SHORT, VERSION, OPCODE, PARTITION_KEY, PADDING, PAYLOAD -> counters.malformed.getAndIncrement();
        }
    }

    private PacketFault check() {
        ByteBuffer buffer = input.buffer();
        int at = input.at();
        PacketFault fault = packet.decode(buffer, at, input.bytes());
        if (fault != PacketFault.NONE) {
            return fault;
        }
        int body = input.bytes() - Packet.CHECKSUM_BYTES;
        int found = buffer.getInt(at + body);
        int expected = crc.of(buffer, at, body, input.host(), input.port(), address, PacketSocket.PORT);
        boolean right = found == expected || IdentificationCheck.explains(found, expected, body);
        return right ? PacketFault.NONE : PacketFault.CHECKSUM;
    }

    /// Closes the socket once no thread receives: another file may soon get the same descriptor.
    @Override
    public void close() throws IOException {
        receiving.lock();
        try {
            closed = true;
            input.channel().close();
        } finally {
            receiving.unlock();
        }
    }
}
