package io.rdmacomm.soft.datagram;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.NetworkOrder;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.OutgoingDatagram;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// Turns the requests of one queue pair into datagrams. Under the send lock.
public final class DatagramSender implements AutoCloseable {
    private static final int SUCCESS = 0;
    private static final int BAD_ADDRESS = WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code();
    private static final int TOO_LONG = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final DatagramOutput output;
    private final int domain;
    private final LocalElements elements;
    private final LongFunction<@Nullable DatagramAddress> addresses;
    private final OutgoingDatagram datagram = new OutgoingDatagram();
    private final ElementList from = new ElementList(ElementList.MAX_ELEMENTS);
    private final ElementList to = new ElementList(1);

    /// A sender for a queue pair of the protection domain `domain`.
    ///
    /// @param output closed with the sender
    /// @param addresses finds the address handle of a request
    public DatagramSender(
            DatagramOutput output,
            int domain,
            LocalElements elements,
            LongFunction<@Nullable DatagramAddress> addresses) {
        this.output = output;
        this.domain = domain;
        this.elements = elements;
        this.addresses = addresses;
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
        if (from.total > output.longest()) {
            return TOO_LONG;
        }
        try {
            describe(request, at, flags, ownKey);
            gather();
            output.send(datagram, address);
            return SUCCESS;
        } catch (RuntimeException | Error e) {
            // For example an InternalError, because the file of a region was truncated.
            return GENERAL_ERROR;
        }
    }

    private void describe(MemorySegment request, long at, int flags, int ownKey) {
        int key = request.get(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY);
        datagram.destination = request.get(JAVA_INT, at + SendRequestLayout.DESTINATION_NUMBER);
        datagram.queueKey = key < 0 ? ownKey : key;
        datagram.hasImmediate = RequestOpcode.hasImmediate(request.get(JAVA_INT, at + SendRequestLayout.OPCODE));
        datagram.immediate = datagram.hasImmediate
                ? NetworkOrder.convert(request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE))
                : 0;
        datagram.solicited = (flags & SendRequestLayout.FLAG_SOLICITED) != 0;
        datagram.bytes = (int) from.total;
    }

    private void gather() {
        if (from.total > 0) {
            to.clear();
            to.add(output.memory(), output.payloadAt(datagram), from.total);
            ElementList.copy(from, to, from.total);
        }
    }

    @Override
    public void close() {
        output.close();
    }
}
