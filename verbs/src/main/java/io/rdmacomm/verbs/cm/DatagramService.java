package io.rdmacomm.verbs.cm;

/// The answer of a program that receives datagrams at an address: its queue pair, and its private data. Immutable.
public final class DatagramService {
    private final DatagramTarget target;
    private final byte[] privateData;

    /// For providers.
    ///
    /// @param privateData the private data of the answer; copied
    public DatagramService(DatagramTarget target, byte[] privateData) {
        this.target = target;
        this.privateData = privateData.clone();
    }

    /// The destination for datagrams.
    public DatagramTarget target() {
        return target;
    }

    /// A copy of the private data of the answer, padded with zeros to the full size.
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public String toString() {
        return "datagram service at " + target;
    }
}
