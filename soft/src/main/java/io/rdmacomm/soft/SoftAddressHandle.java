package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.GroupSocket;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import java.io.IOException;

/// An address handle: the UDP port of another context, or a multicast group.
final class SoftAddressHandle implements AddressHandleDriver {
    private static final String OPERATION = "create address handle (ibv_create_ah)";

    private final SoftContext context;
    private final DatagramAddress address;
    private final long number;

    SoftAddressHandle(SoftContext context, int domain, AddressVector vector) {
        this.context = context;
        check(vector);
        try {
            this.address = context.network().datagramAddress(vector, domain);
        } catch (IOException e) {
            throw HostError.of(e, Errno.ENOMEM).failure(OPERATION, "no socket for " + vector.destinationGid(), e);
        }
        this.number = context.addressHandles().add(address);
    }

    private void check(AddressVector vector) {
        if (vector.destinationGid().isMulticast() && !context.supports(Capability.MULTICAST)) {
            throw refused(vector.destinationGid() + " is a multicast group, and this device has no multicast;"
                    + " send a datagram to each receiver instead");
        }
        context.checkPort(OPERATION, vector.port(), vector.sourceGidIndex());
    }

    /// The exception for an address that does not exist.
    static VerbException refused(String detail) {
        return new VerbException(OPERATION, Errno.EINVAL, detail);
    }

    @Override
    public long handle() {
        return number;
    }

    @Override
    public void close() {
        context.addressHandles().remove(number);
        GroupSocket own = address.own();
        if (own != null) {
            try {
                own.close();
            } catch (IOException e) {
                throw new VerbException("destroy address handle (ibv_destroy_ah)", Errno.EIO, toString(), e);
            }
        }
    }

    @Override
    public String toString() {
        return "address handle on " + context;
    }
}
