package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestExecution;
import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.roce.wire.Syndrome;
import org.jspecify.annotations.Nullable;

/// The answers to the peer's requests, in the order of the requests: acknowledgements, the data of READs, and the
/// old values of atomic operations. Under the queue pair's send lock; allocates nothing.
final class OwedAnswers {
    private static final int ACKNOWLEDGEMENT = 0;
    private static final int READ = 1;
    private static final int ATOMIC = 2;

    private final RequestExecution execution;
    private final PacketOutput output;
    private final int mtu;
    private final int mask;
    private final int[] kinds;
    private final int[] psns;
    private final int[] messages;
    private final int[] syndromes;
    private final int[] keys;
    private final long[] addresses;
    /// READ: the number of bytes; atomic: the old value.
    private final long[] values;

    private final ElementList source = new ElementList(1);
    private final ElementPieces pieces = new ElementPieces(source);
    private int head;
    private int tail;
    /// The bytes of the oldest READ that were sent.
    private long done;
    private boolean resolved;
    private @Nullable RequestFault fault;

    /// @param atOnce the most answers that can be owed, a power of two
    OwedAnswers(RequestExecution execution, PacketOutput output, int mtu, int atOnce) {
        this.execution = execution;
        this.output = output;
        this.mtu = mtu;
        this.mask = atOnce - 1;
        this.kinds = new int[atOnce];
        this.psns = new int[atOnce];
        this.messages = new int[atOnce];
        this.syndromes = new int[atOnce];
        this.keys = new int[atOnce];
        this.addresses = new long[atOnce];
        this.values = new long[atOnce];
    }

    boolean isEmpty() {
        return head == tail;
    }

    boolean isFull() {
        return tail - head > mask;
    }

    private int add(int kind, int psn, int completed) {
        int index = tail & mask;
        tail++;
        kinds[index] = kind;
        psns[index] = psn;
        messages[index] = completed;
        syndromes[index] = Syndrome.DONE;
        return index;
    }

    /// Acknowledges all requests up to `psn`. Extends the newest answer if that is an acknowledgement.
    ///
    /// @param completed how many messages were completed
    void acknowledge(int psn, int completed) {
        int newest = (tail - 1) & mask;
        boolean joins = !isEmpty() && kinds[newest] == ACKNOWLEDGEMENT && syndromes[newest] == Syndrome.DONE;
        if (joins) {
            psns[newest] = psn;
            messages[newest] = completed;
        } else if (!isFull()) {
            // If there is no room, the peer will ask again.
            var _ = add(ACKNOWLEDGEMENT, psn, completed);
        }
    }

    /// Tells the peer why the request with this number was not executed.
    void refuse(int psn, int syndrome, int completed) {
        if (!isFull()) {
            syndromes[add(ACKNOWLEDGEMENT, psn, completed)] = syndrome;
        }
    }

    /// Sends memory. There must be room.
    void read(int psn, int key, long address, long bytes, int completed) {
        int index = add(READ, psn, completed);
        keys[index] = key;
        addresses[index] = address;
        values[index] = bytes;
    }

    /// Sends the old value of an atomic operation. There must be room.
    void atomic(int psn, long original, int completed) {
        values[add(ATOMIC, psn, completed)] = original;
    }

    /// Why a READ cannot continue: its memory is gone. Else null.
    @Nullable
    RequestFault fault() {
        return fault;
    }

    /// Sends answers.
    ///
    /// @param most the most packets to send
    /// @return whether all were sent
    boolean send(int most) {
        // Memory may have been deregistered since the last time.
        resolved = false;
        for (int i = 0; i < most && !isEmpty(); i++) {
            int index = head & mask;
            boolean gone = switch (kinds[index]) {
                case READ -> sendRead(index);
                case ATOMIC -> sendAtomic(index);
                default -> sendAcknowledgement(index);
            };
            if (!gone) {
                return false;
            }
        }
        return isEmpty();
    }

    private Packet begin(int opcode, int index) {
        Packet packet = output.packet();
        packet.opcode = opcode;
        packet.psn = psns[index];
        packet.solicited = false;
        packet.wantsAnswer = false;
        packet.syndrome = syndromes[index];
        packet.messages = messages[index];
        return packet;
    }

    private boolean sendAcknowledgement(int index) {
        var _ = begin(PacketOpcode.ACKNOWLEDGE, index);
        var _ = output.begin(0);
        return ended(output.send());
    }

    private boolean sendAtomic(int index) {
        begin(PacketOpcode.ATOMIC_ACKNOWLEDGE, index).original = values[index];
        var _ = output.begin(0);
        return ended(output.send());
    }

    private boolean ended(boolean sent) {
        if (sent) {
            head++;
        }
        return sent;
    }

    private boolean sendRead(int index) {
        long total = values[index];
        if (!resolved) {
            fault = execution.beginRead(keys[index], addresses[index], total, source);
            pieces.restart();
            resolved = fault == null;
            if (fault != null) {
                kinds[index] = ACKNOWLEDGEMENT;
                syndromes[index] = Syndrome.refusal(fault.status());
                psns[index] = Psn.add(psns[index], (int) (done / mtu));
                done = 0;
                return sendAcknowledgement(index);
            }
        }
        int bytes = (int) Math.min(mtu, total - done);
        boolean last = done + bytes == total;
        Packet packet = begin(opcode(done == 0, last), index);
        packet.psn = Psn.add(psns[index], (int) (done / mtu));
        int to = output.begin(bytes);
        pieces.copy(done, output.segment(), to, bytes);
        if (!output.send()) {
            return false;
        }
        done += bytes;
        if (last) {
            done = 0;
            resolved = false;
            head++;
        }
        return true;
    }

    private static int opcode(boolean first, boolean last) {
        if (last) {
            return first ? PacketOpcode.READ_RESPONSE_ONLY : PacketOpcode.READ_RESPONSE_LAST;
        }
        return first ? PacketOpcode.READ_RESPONSE_FIRST : PacketOpcode.READ_RESPONSE_MIDDLE;
    }

    /// Forgets all, and releases the memory.
    void close() {
        head = tail;
        source.clear();
    }
}
