package io.rdmacomm.soft.cm.ib;

import io.rdmacomm.soft.roce.cm.ServiceInquiry;
import io.rdmacomm.soft.roce.mad.ProgramAddress;
import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import java.net.InetSocketAddress;

/// A peer's question for a queue pair that receives datagrams.
final class IbDatagramRequest implements DatagramRequestDriver {
    private final IbDevice device;
    private final ServiceInquiry inquiry;

    IbDatagramRequest(IbDevice device, ServiceInquiry inquiry) {
        this.device = device;
        this.inquiry = inquiry;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        ProgramAddress addresses = inquiry.request().addresses();
        return new InetSocketAddress(inquiry.peer(), addresses == null ? 0 : addresses.port());
    }

    @Override
    public byte[] privateData() {
        return inquiry.request().privateData().clone();
    }

    @Override
    public void accept(QueuePair queuePair, byte[] privateData) {
        inquiry.answer(ServiceReply.FOUND, queuePair.number(), DatagramTarget.QUEUE_KEY, privateData);
    }

    @Override
    public void reject(byte[] privateData) {
        inquiry.answer(ServiceReply.REJECTED, 0, 0, privateData);
    }

    @Override
    public void close() {
        // Nothing to release: the request was answered.
    }

    @Override
    public String toString() {
        return "datagram request of " + remoteAddress() + " on " + device;
    }
}
