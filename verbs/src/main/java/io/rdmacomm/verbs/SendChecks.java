package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Checks that send requests fit a queue pair before they are posted, the same on every device. Drivers make
/// different checks, and some accept requests that they cannot execute.
final class SendChecks {
    /// Accepts nothing, for an incomplete queue pair.
    static final SendChecks NONE = new SendChecks("", 0, new QueueSizes(0, 0, 0, 0, 0), 0, 0, "", false, 0);

    private static final int INLINE_OPCODES = mask(Set.of(
            SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE,
            SendOpcode.SEND_WITH_INVALIDATE,
            SendOpcode.WRITE,
            SendOpcode.WRITE_WITH_IMMEDIATE));

    private final String place;
    private final int ofDevice;
    private final QueueSizes sizes;
    private final int readElements;
    private final int possible;
    private final String peerLack;
    private final boolean datagrams;
    private final int longestDatagram;

    /// @param place the kind of queue pair and its device, for messages
    /// @param ofDevice the opcodes that the device supports, as a mask of `1 << code`
    /// @param readElements the most scatter/gather elements of a READ
    /// @param possible the opcodes that the peer also supports
    /// @param peerLack the reason why the peer does not support the others
    /// @param datagrams whether each request needs an address
    /// @param longestDatagram its largest payload in bytes
    private SendChecks(
            String place,
            int ofDevice,
            QueueSizes sizes,
            int readElements,
            int possible,
            String peerLack,
            boolean datagrams,
            int longestDatagram) {
        this.place = place;
        this.ofDevice = ofDevice;
        this.sizes = sizes;
        this.readElements = readElements;
        this.possible = possible;
        this.peerLack = peerLack;
        this.datagrams = datagrams;
        this.longestDatagram = longestDatagram;
    }

    /// @param supports the capabilities of the device
    /// @param device its name
    /// @param readElements the most scatter/gather elements of a READ
    static SendChecks of(
            QueuePairType type, Predicate<Capability> supports, String device, QueueSizes sizes, int readElements) {
        int opcodes = opcodes(type, supports);
        return new SendChecks(
                type + " queue pair of " + device,
                opcodes,
                sizes,
                readElements,
                opcodes,
                "",
                type == QueuePairType.UNRELIABLE_DATAGRAM,
                0);
    }

    /// The same checks for a peer that lacks some opcodes.
    SendChecks withPeerThatLacks(Set<SendOpcode> missing, String why) {
        return new SendChecks(
                place, ofDevice, sizes, readElements, ofDevice & ~mask(missing), why, datagrams, longestDatagram);
    }

    /// The same checks for datagrams through a port with this MTU.
    SendChecks withLongestDatagram(int bytes) {
        return new SendChecks(place, ofDevice, sizes, readElements, possible, peerLack, datagrams, bytes);
    }

    /// Whether each request must also pass [#datagramComplaint].
    boolean areForDatagrams() {
        return datagrams;
    }

    /// Describes the error in one datagram; null if there is none. A device may read the memory of a handle that was
    /// closed, and rxe drops a datagram that is too long and reports success (`rxe_requester`).
    @Nullable
    String datagramComplaint(@Nullable AddressHandle to, long bytes) {
        if (to == null) {
            return "it has no address; call to(...) on a batch for a " + place;
        }
        if (!to.isOpen()) {
            return "its " + to + " is closed";
        }
        return bytes > longestDatagram
                ? bytes + " bytes, a datagram has at most " + longestDatagram + ", the MTU of the port"
                : null;
    }

    private static int opcodes(QueuePairType type, Predicate<Capability> supports) {
        int mask = bit(SendOpcode.SEND);
        mask |= bit(supports, Capability.SEND_WITH_IMMEDIATE, SendOpcode.SEND_WITH_IMMEDIATE);
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            return mask;
        }
        mask |= bit(SendOpcode.WRITE);
        mask |= bit(supports, Capability.WRITE_WITH_IMMEDIATE, SendOpcode.WRITE_WITH_IMMEDIATE);
        mask |= bit(supports, Capability.SEND_WITH_INVALIDATE, SendOpcode.SEND_WITH_INVALIDATE);
        mask |= bit(supports, Capability.LOCAL_INVALIDATE, SendOpcode.LOCAL_INVALIDATE);
        mask |= bit(supports, Capability.MEMORY_WINDOW_TYPE_2, SendOpcode.BIND_WINDOW);
        if (type == QueuePairType.RELIABLE_CONNECTED) {
            mask |= bit(SendOpcode.READ);
            mask |= bit(supports, Capability.ATOMICS, SendOpcode.COMPARE_AND_SWAP);
            mask |= bit(supports, Capability.ATOMICS, SendOpcode.FETCH_AND_ADD);
        }
        return mask;
    }

    private static int bit(Predicate<Capability> supports, Capability capability, SendOpcode opcode) {
        return supports.test(capability) ? bit(opcode) : 0;
    }

    private static int bit(SendOpcode opcode) {
        return 1 << opcode.code();
    }

    private static int mask(Set<SendOpcode> opcodes) {
        int mask = 0;
        for (SendOpcode opcode : opcodes) {
            mask |= bit(opcode);
        }
        return mask;
    }

    /// Whether all requests of a batch are valid, judged by their or-ed opcodes and their maximums.
    boolean accept(int opcodes, int mostElements, int inlineOpcodes, long mostInline) {
        boolean reads = (opcodes & bit(SendOpcode.READ)) != 0;
        return (opcodes & ~possible) == 0
                && mostElements <= (reads ? readElements : sizes.sendElements())
                && (inlineOpcodes & ~INLINE_OPCODES) == 0
                && mostInline <= sizes.inlineBytes();
    }

    /// Describes the error in one request; null if there is none.
    @Nullable
    String complaint(int code, int flags, int elements, long bytes) {
        SendOpcode opcode = SendOpcode.of(code);
        if ((1 << code & ofDevice) == 0) {
            return opcode + " is not supported on a " + place;
        }
        if ((1 << code & possible) == 0) {
            return opcode + " is not supported by this peer: " + peerLack;
        }
        if (elements > sizes.sendElements()) {
            return elements + " scatter/gather elements, this queue pair allows " + sizes.sendElements();
        }
        if (opcode == SendOpcode.READ && elements > readElements) {
            return elements + " scatter/gather elements of a READ, a " + place + " allows " + readElements;
        }
        if ((flags & SendRequestLayout.FLAG_INLINE) == 0) {
            return null;
        }
        if ((1 << code & INLINE_OPCODES) == 0) {
            return opcode + " cannot be inline";
        }
        return bytes > sizes.inlineBytes()
                ? bytes + " inline bytes, this queue pair allows " + sizes.inlineBytes()
                : null;
    }
}
