package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.spi.MulticastDriver;
import java.io.Closeable;
import java.io.IOException;
import java.net.Inet4Address;

/// The network interface's membership in a multicast group, independent of the queue pairs attached to it.
final class IbMulticastMembership implements MulticastDriver {
    private final IbDevice device;
    private final DatagramTarget target;
    private final Closeable joined;

    /// Joins the group.
    ///
    /// @throws IOException if there is no socket left, or the interface cannot join it
    IbMulticastMembership(IbDevice device, Inet4Address group) throws IOException {
        this.device = device;
        this.target = new DatagramTarget(
                IbDevice.path(group, /* trafficClass= */ 0), SendBatch.MULTICAST, DatagramTarget.QUEUE_KEY);
        this.joined = device.port().join(group);
    }

    @Override
    public DatagramTarget target() {
        return target;
    }

    @Override
    public void close() {
        try {
            joined.close();
        } catch (IOException e) {
            throw new VerbException("leave multicast group (rdma_leave_multicast)", Errno.EIO, toString(), e);
        }
    }

    @Override
    public String toString() {
        return "membership in " + target.path().destinationGid() + " on " + device;
    }
}
