package io.rdmacomm.soft.datagram;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Sends the datagrams of one queue pair through its own socket: queue pairs share no lock. Under the send lock.
public final class DatagramSender implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(DatagramSender.class);
    private static final int SUCCESS = 0;
    private static final int BAD_ADDRESS = WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code();
    private static final int TOO_LONG = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final DatagramChannel channel;
    private final int number;
    private final int domain;
    private final int lid;
    private final LocalElements elements;
    private final LongFunction<@Nullable DatagramAddress> addresses;
    private final ByteBuffer packet;
    private final ElementList from = new ElementList(ElementList.MAX_ELEMENTS);
    private final ElementList to = new ElementList(1);
    private final MemorySegment memory;
    private final int longest;

    /// A sender for the queue pair `number` of the protection domain `domain`.
    ///
    /// @param address of the device
    /// @param lid of the context
    /// @param longest the largest payload
    /// @param addresses finds the address handle of a request
    /// @throws IOException if there is no socket left, or no such address
    public DatagramSender(
            InetAddress address,
            int lid,
            int longest,
            int number,
            int domain,
            LocalElements elements,
            LongFunction<@Nullable DatagramAddress> addresses)
            throws IOException {
        this.lid = lid;
        this.longest = longest;
        this.number = number;
        this.domain = domain;
        this.elements = elements;
        this.addresses = addresses;
        this.packet = ByteBuffer.allocateDirect(DatagramFormat.HEADER_BYTES + longest);
        this.memory = MemorySegment.ofBuffer(packet);
        this.channel = SystemSockets.openDatagramSocket();
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(address, 0));
            complete = true;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    /// The payload of the last datagram.
    public long bytes() {
        return from.total;
    }

    /// Sends the datagram of the request at `at`. If the network does not take it, it is lost.
    ///
    /// @param ownKey the queue key of this side, sent in place of a key with the highest bit set (IBTA
    ///     10.2.5)
    /// @return 0, or the code of the [WorkStatus] to fail with
    public int send(MemorySegment request, long at, int ownKey) {
        DatagramAddress address = addresses.apply(request.get(JAVA_LONG, at + SendRequestLayout.ADDRESS_HANDLE));
        if (address == null || address.domain() != domain) {
            return BAD_ADDRESS;
        }
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        from.clear();
        int status = elements.resolve(from, request, at, flags, 0);
        if (status != SUCCESS) {
            return status;
        }
        if (from.total > longest) {
            return TOO_LONG;
        }
        try {
            gather();
            writeHeader(request, at, flags, ownKey, address);
            transmit(address);
            return SUCCESS;
        } catch (RuntimeException | Error e) {
            // For example an InternalError, because the file of a region was truncated.
            return GENERAL_ERROR;
        }
    }

    private void gather() {
        if (from.total > 0) {
            to.clear();
            to.add(memory, DatagramFormat.HEADER_BYTES, from.total);
            ElementList.copy(from, to, from.total);
        }
    }

    private void writeHeader(MemorySegment request, long at, int flags, int ownKey, DatagramAddress address) {
        boolean immediate = RequestOpcode.hasImmediate(request.get(JAVA_INT, at + SendRequestLayout.OPCODE));
        boolean solicited = (flags & SendRequestLayout.FLAG_SOLICITED) != 0;
        int key = request.get(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY);
        packet.clear();
        packet.putInt(DatagramFormat.MAGIC_AT, DatagramFormat.MAGIC);
        packet.putInt(DatagramFormat.DESTINATION, request.get(JAVA_INT, at + SendRequestLayout.DESTINATION_NUMBER));
        packet.putInt(DatagramFormat.SOURCE, number);
        packet.putInt(DatagramFormat.QUEUE_KEY, key < 0 ? ownKey : key);
        packet.putInt(
                DatagramFormat.IMMEDIATE,
                immediate ? Integer.reverseBytes(request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE)) : 0);
        packet.putShort(DatagramFormat.SOURCE_LID, (short) lid);
        packet.put(DatagramFormat.TRAFFIC_CLASS, (byte) address.trafficClass());
        packet.put(DatagramFormat.FLAGS, (byte)
                ((immediate ? DatagramFormat.FLAG_IMMEDIATE : 0) | (solicited ? DatagramFormat.FLAG_SOLICITED : 0)));
        packet.putInt(DatagramFormat.HOP_LIMIT, address.hopLimit() << 24);
        packet.limit(DatagramFormat.HEADER_BYTES + (int) from.total);
    }

    private void transmit(DatagramAddress address) {
        try {
            int _ = channel.send(packet, address.socket());
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.TRACE, "a datagram is lost: the network does not take it", e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "closing a UDP socket", e);
        }
    }
}
