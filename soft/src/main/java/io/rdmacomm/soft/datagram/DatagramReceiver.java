package io.rdmacomm.soft.datagram;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.memory.NetworkOrder;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.GlobalRoutingHeader;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;

/// Writes datagrams into the receives of one queue pair. The engine, under the receive lock.
public final class DatagramReceiver {
    private static final int SUCCESS = 0;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();
    private static final int LOCAL_LENGTH = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int LOCAL_PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();

    private final LocalMemory memory;
    private final int number;
    private final ReceiveQueue receives;
    private final ReceiveTaker ring;
    private final IntConsumer onLimit;
    private final ElementList from = new ElementList(2);
    private final ElementList to = new ElementList(ElementList.MAX_ELEMENTS);
    private final CompletionFields fields = new CompletionFields();

    /// @param number of the queue pair
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    public DatagramReceiver(LocalMemory memory, int number, ReceiveQueue receives, IntConsumer onLimit) {
        this.memory = memory;
        this.number = number;
        this.receives = receives;
        this.ring = receives.ring().taker();
        this.onLimit = onLimit;
    }

    /// Completes the oldest receive with `datagram`, which is lost if there is none.
    ///
    /// @return 0, or the code of the [WorkStatus] with which the receive has failed
    public int deliver(IncomingDatagram datagram) {
        while (true) {
            long position = ring.head();
            if (position >= ring.tail()) {
                return SUCCESS;
            }
            long entry = ring.entry(position);
            long workId = ring.workId(entry);
            int status = resolve(entry, bytes(datagram));
            if (ring.take(position)) {
                int shared = ring.sharedNumber();
                if (shared != 0 && ring.crossedLimit()) {
                    onLimit.accept(shared);
                }
                return complete(workId, status == SUCCESS ? put(datagram) : status, datagram);
            }
        }
    }

    /// The length of the header and the payload.
    private static int bytes(IncomingDatagram datagram) {
        return GlobalRoutingHeader.BYTES + datagram.payloadBytes;
    }

    private int resolve(long entry, long bytes) {
        MemorySegment control = memory.control();
        to.clear();
        long element = ring.elements(entry);
        int count = ring.elementCount(entry);
        for (int i = 0; i < count && to.total < bytes; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long length = Integer.toUnsignedLong(control.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0) {
                continue;
            }
            long address = control.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            int key = control.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            LocalRegion region = memory.usable(key, ring.domain(), LOCAL_WRITE, address, length);
            if (region == null) {
                return LOCAL_PROTECTION;
            }
            to.add(region, region.offsetOf(address), length);
        }
        return to.total < bytes ? LOCAL_LENGTH : SUCCESS;
    }

    /// Copies the datagram. A receive that was taken must complete in any case.
    private int put(IncomingDatagram datagram) {
        try {
            from.clear();
            from.add(datagram.header, 0, GlobalRoutingHeader.BYTES);
            from.add(datagram.memory, datagram.payloadAt, datagram.payloadBytes);
            ElementList.copy(from, to, from.total);
            return SUCCESS;
        } catch (RuntimeException | Error e) {
            // Memory was freed without closing its region, or its file was truncated.
            return GENERAL_ERROR;
        }
    }

    private int complete(long workId, int status, IncomingDatagram datagram) {
        fields.set(workId, status, CompletionOpcode.RECEIVE.code(), bytes(datagram), number);
        fields.source = datagram.source;
        fields.sourceLid = datagram.sourceLid;
        fields.solicited = datagram.solicited;
        fields.flags = CompletionLayout.FLAG_GLOBAL_ROUTE;
        if (datagram.hasImmediate) {
            fields.flags |= CompletionLayout.FLAG_IMMEDIATE;
            fields.immediate = NetworkOrder.convert(datagram.immediate);
        }
        receives.completions().push(fields);
        return status;
    }
}
