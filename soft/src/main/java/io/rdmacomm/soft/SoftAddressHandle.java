package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.AddressHandleDriver;

/// An address handle: the UDP port of another context.
final class SoftAddressHandle implements AddressHandleDriver {
    private static final String OPERATION = "create address handle (ibv_create_ah)";

    private final SoftContext context;
    private final long number;

    SoftAddressHandle(SoftContext context, int domain, AddressVector vector) {
        this.context = context;
        check(vector);
        this.number = context.addressHandles()
                .add(new DatagramAddress(
                        context.network().datagramAddress(vector), domain, vector.trafficClass(), vector.hopLimit()));
    }

    private void check(AddressVector vector) {
        if (vector.destinationGid().isMulticast()) {
            throw refused(vector.destinationGid() + " is a multicast group, and this device has no multicast;"
                    + " send a datagram to each receiver instead");
        }
        context.checkPort(OPERATION, vector.port(), vector.sourceGidIndex());
    }

    /// There is no such address.
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
    }

    @Override
    public String toString() {
        return "address handle on " + context;
    }
}
