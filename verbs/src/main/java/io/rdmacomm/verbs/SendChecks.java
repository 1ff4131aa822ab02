package io.rdmacomm.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What every provider checks of send requests before they are posted: drivers do not agree on it, and some take
/// what they cannot carry out.
///
/// @param ofDevice what the device can carry out, as a mask like that of [SendBatch#opcodes()]
/// @param possible what of it the peer can carry out, too
/// @param elements how many scatter/gather elements a request may have
/// @param readElements how many of them a READ may have
/// @param inlineBytes how many bytes may be inline
/// @param peerLack why the peer cannot carry out the rest
record SendChecks(int ofDevice, int possible, int elements, int readElements, int inlineBytes, String peerLack) {
    /// Of a queue pair that is not complete.
    static final SendChecks NONE = new SendChecks(0, 0, 0, 0, 0, "");

    private static final int INLINE_OPCODES = 1 << SendOpcode.SEND.code()
            | 1 << SendOpcode.SEND_WITH_IMMEDIATE.code()
            | 1 << SendOpcode.SEND_WITH_INVALIDATE.code()
            | 1 << SendOpcode.WRITE.code()
            | 1 << SendOpcode.WRITE_WITH_IMMEDIATE.code();

    private static final int SHORT = 32;
    private static final long PAGE = 4096;

    static SendChecks of(QueuePairType type, Context context, QueueSizes sizes, int readElements) {
        int possible = ofDevice(type, context);
        return new SendChecks(possible, possible, sizes.sendElements(), readElements, sizes.inlineBytes(), "");
    }

    /// These with a peer that cannot carry out some of what the device can.
    SendChecks withPeerThatLacks(Set<SendOpcode> missing, String why) {
        int mask = 0;
        for (SendOpcode opcode : missing) {
            mask |= 1 << opcode.code();
        }
        return new SendChecks(ofDevice, ofDevice & ~mask, elements, readElements, inlineBytes, why);
    }

    private static int ofDevice(QueuePairType type, Context context) {
        int mask = 1 << SendOpcode.SEND.code();
        mask |= bit(context, Capability.SEND_WITH_IMMEDIATE, SendOpcode.SEND_WITH_IMMEDIATE);
        mask |= context.supports(Capability.EMPTY_ELEMENTS) ? SendBatch.EMPTY_ELEMENT : 0;
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            return mask;
        }
        mask |= 1 << SendOpcode.WRITE.code();
        mask |= bit(context, Capability.WRITE_WITH_IMMEDIATE, SendOpcode.WRITE_WITH_IMMEDIATE);
        mask |= bit(context, Capability.SEND_WITH_INVALIDATE, SendOpcode.SEND_WITH_INVALIDATE);
        mask |= bit(context, Capability.LOCAL_INVALIDATE, SendOpcode.LOCAL_INVALIDATE);
        mask |= bit(context, Capability.MEMORY_WINDOW_TYPE_2, SendOpcode.BIND_WINDOW);
        if (type == QueuePairType.RELIABLE_CONNECTED) {
            mask |= 1 << SendOpcode.READ.code();
            mask |= context.supports(Capability.FENCED_READ) ? SendBatch.FENCED_READ : 0;
            mask |= context.supports(Capability.SHORT_READ_ACROSS_PAGES) ? SendBatch.SHORT_READ_ACROSS_PAGES : 0;
            mask |= bit(context, Capability.ATOMICS, SendOpcode.COMPARE_AND_SWAP);
            mask |= bit(context, Capability.ATOMICS, SendOpcode.FETCH_AND_ADD);
        }
        return mask;
    }

    private static int bit(Context context, Capability capability, SendOpcode opcode) {
        return context.supports(capability) ? 1 << opcode.code() : 0;
    }

    /// Whether nothing is wrong with any request, as far as what was or-ed and maximised while the batch was
    /// filled can tell.
    boolean fit(SendBatch batch) {
        return (batch.opcodes() & ~possible) == 0
                && batch.mostElements() <= elements
                && (!batch.contains(SendOpcode.READ)
                        || (batch.mostElements() <= readElements
                                && (possible & SendBatch.SHORT_READ_ACROSS_PAGES) != 0))
                && batch.mostInline() <= inlineBytes
                && (batch.inlineOpcodes() & ~INLINE_OPCODES) == 0;
    }

    /// What is wrong with one request for `pair`; null if nothing is.
    @Nullable
    String complaint(SendBatch batch, int index, QueuePair pair) {
        int code = batch.opcodeCode(index);
        Context context = pair.protectionDomain().context();
        if ((1 << code & ofDevice) == 0) {
            return SendOpcode.of(code) + " is not possible on a "
                    + pair.options().type() + " queue pair of " + context;
        }
        if ((1 << code & possible) == 0) {
            return SendOpcode.of(code) + " is not possible with this peer: " + peerLack;
        }
        if (batch.elementCount(index) > elements) {
            return batch.elementCount(index) + " scatter/gather elements, this queue pair allows " + elements;
        }
        if (code == SendOpcode.READ.code()) {
            return complaintOfRead(batch, index, context);
        }
        if (has(batch, index, SendRequestLayout.FLAG_INLINE)) {
            return complaintOfInline(batch, index);
        }
        return (possible & SendBatch.EMPTY_ELEMENT) == 0 && batch.hasElementBehindEmptyOne(index)
                ? "an element of length 0 in front of another is not possible on " + context + "; leave it out"
                : null;
    }

    private @Nullable String complaintOfRead(SendBatch batch, int index, Context context) {
        if (has(batch, index, SendRequestLayout.FLAG_INLINE)) {
            return "READ cannot be inline";
        }
        if (batch.elementCount(index) > readElements) {
            return batch.elementCount(index) + " scatter/gather elements of a READ, " + context + " allows "
                    + readElements;
        }
        if ((possible & SendBatch.SHORT_READ_ACROSS_PAGES) == 0 && isShortAcrossPages(batch, index)) {
            return "a READ of " + batch.length(index) + " bytes from 0x"
                    + Long.toHexString(batch.remoteAddress(index))
                    + " on crosses a page of the peer, and " + context + " gets its bytes wrong; read more than "
                    + SHORT + ", or in two parts";
        }
        return has(batch, index, SendRequestLayout.FLAG_FENCE) && (possible & SendBatch.FENCED_READ) == 0
                ? "a READ cannot be fenced on " + context + "; post it when what it must wait for has completed"
                : null;
    }

    private static boolean isShortAcrossPages(SendBatch batch, int index) {
        long length = batch.length(index);
        return length <= SHORT && (batch.remoteAddress(index) & PAGE - 1) + length > PAGE;
    }

    private @Nullable String complaintOfInline(SendBatch batch, int index) {
        int code = batch.opcodeCode(index);
        if ((1 << code & INLINE_OPCODES) == 0) {
            return SendOpcode.of(code) + " cannot be inline";
        }
        return batch.length(index) > inlineBytes
                ? batch.length(index) + " inline bytes, this queue pair allows " + inlineBytes
                : null;
    }

    private static boolean has(SendBatch batch, int index, int flag) {
        return (batch.flags(index) & flag) != 0;
    }
}
