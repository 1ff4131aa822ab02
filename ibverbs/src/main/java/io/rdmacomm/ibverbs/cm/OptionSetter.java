package io.rdmacomm.ibverbs.cm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.ConnectionIdentifierLayout;
import io.rdmacomm.ibverbs.ffm.LibRdmacm;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/// Sets the options of an identifier (rdma_set_option(3)).
final class OptionSetter {
    private final LibRdmacm library;
    private final String device;

    /// @param device the name of the device, for messages
    OptionSetter(LibRdmacm library, String device) {
        this.library = library;
        this.device = device;
    }

    /// Sets the options that differ from the system's defaults. Call it before the identifier has an address: the
    /// kernel rejects two of them later, and the route depends on the type of service.
    void set(ConnectionIdentifier identifier, IdentifierOptions options) {
        OptionalInt type = options.typeOfService();
        if (type.isPresent()) {
            int errno = setByte(identifier, ConnectionIdentifierLayout.OPTION_TYPE_OF_SERVICE, type.getAsInt());
            IbvFailure.check(
                    "set type of service (rdma_set_option)", errno, Capability.CONNECTION_TYPE_OF_SERVICE, device);
        }
        if (options.reuseAddress()) {
            int errno = setTrue(identifier, ConnectionIdentifierLayout.OPTION_REUSE_ADDRESS);
            IbvFailure.check("reuse address (rdma_set_option)", errno, device);
        }
        if (options.addressFamilyOnly()) {
            int errno = setTrue(identifier, ConnectionIdentifierLayout.OPTION_ADDRESS_FAMILY_ONLY);
            IbvFailure.check("set address family only (rdma_set_option)", errno, device);
        }
    }

    /// Sets the acknowledgement timeout. Call it before the queue pair is brought up. Linux before 5.2 does not
    /// have the option.
    void set(ConnectionIdentifier identifier, AckTimeout timeout) {
        int errno = setByte(identifier, ConnectionIdentifierLayout.OPTION_ACK_TIMEOUT, timeout.code());
        IbvFailure.check(
                "set acknowledgement timeout (rdma_set_option)", errno, Capability.CONNECTION_ACK_TIMEOUT, device);
    }

    private int setByte(ConnectionIdentifier identifier, int option, int value) {
        try (Arena arena = Arena.ofConfined()) {
            return set(identifier, option, arena.allocateFrom(JAVA_BYTE, (byte) value));
        }
    }

    private int setTrue(ConnectionIdentifier identifier, int option) {
        try (Arena arena = Arena.ofConfined()) {
            return set(identifier, option, arena.allocateFrom(JAVA_INT, 1));
        }
    }

    private int set(ConnectionIdentifier identifier, int option, MemorySegment value) {
        return identifier.call(id -> library.setOption(
                id, ConnectionIdentifierLayout.OPTION_LEVEL, option, value.address(), (int) value.byteSize()));
    }
}
