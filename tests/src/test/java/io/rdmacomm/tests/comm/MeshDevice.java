package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.fixture.Fabric;
import java.util.List;

/// A device on which collectives are tested: that of each fabric whose two ends are in one process, which are the
/// software device over shared memory and over TCP, and in the lab the device that `lab/suite` selects.
///
/// @param host the address at which nodes meet and listen; empty for the default
record MeshDevice(String name, String host) {
    private static final int MESSAGE_BYTES = 1024;
    private static final int QUEUE = 32;

    static List<MeshDevice> all() {
        return Fabric.providers().map(MeshDevice::of).toList();
    }

    private static MeshDevice of(Fabric fabric) {
        String address = fabric.address();
        return new MeshDevice(fabric.device(), address == null ? "" : address);
    }

    /// Options for many nodes in one process: small queues, and no threads besides those of the ranks.
    SessionOptions options() {
        return SessionOptions.defaults()
                .withDevice(name)
                .withThreadMode(ThreadMode.CALLER)
                .withAddress(host, 0)
                .withChannel(ChannelOptions.defaults()
                        .withMessageBytes(MESSAGE_BYTES)
                        .withReceives(QUEUE)
                        .withSendWindow(QUEUE));
    }

    @Override
    public String toString() {
        return name;
    }
}
