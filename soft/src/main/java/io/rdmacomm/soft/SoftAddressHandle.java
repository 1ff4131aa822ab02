package io.rdmacomm.soft;

import io.rdmacomm.soft.datagram.DatagramAddress;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.net.InetSocketAddress;

/// An address handle: the UDP port of another context.
final class SoftAddressHandle extends AddressHandle {
    private static final String OPERATION = "create address handle (ibv_create_ah)";

    private final SoftContext context;
    private final long number;

    SoftAddressHandle(SoftProtectionDomain domain, AddressVector vector) {
        super(domain);
        this.context = domain.softContext();
        check(vector);
        this.number = context.addressHandles()
                .add(new DatagramAddress(
                        new InetSocketAddress(vector.destinationGid().address(), vector.destinationLid()),
                        domain.number(),
                        vector.trafficClass(),
                        vector.hopLimit()));
    }

    private void check(AddressVector vector) {
        if (vector.destinationGid().isMulticast()) {
            throw refused(vector.destinationGid() + " is a multicast group, and this device has no multicast;"
                    + " send a datagram to each receiver instead");
        }
        if (!vector.isGlobal() || vector.destinationLid() == 0) {
            throw refused("a software device is found by its GID and its LID, not by GID " + vector.destinationGid()
                    + " and LID " + vector.destinationLid());
        }
        if (vector.port() != 1 || vector.sourceGidIndex() != 0) {
            throw refused(context.device() + " has port 1 with entry 0, not port " + vector.port() + ", entry "
                    + vector.sourceGidIndex());
        }
    }

    private static VerbException refused(String detail) {
        return new VerbException(OPERATION, Errno.EINVAL, detail);
    }

    @Override
    public long handle() {
        return number;
    }

    @Override
    protected void doClose() {
        context.addressHandles().remove(number);
    }
}
