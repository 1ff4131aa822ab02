package io.rdmacomm.soft.roce.mad;

import io.rdmacomm.verbs.Gid;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// REQ: asks for a connection (IBTA 12.6.5).
///
/// @param id of the requesting side
/// @param service the service ID
/// @param guid of the adapter
/// @param queuePair the number of the queue pair
/// @param psn the number of the first packet that this side expects
/// @param depths the most READs and atomics in flight, of the peer and of this side
/// @param reliable whether it asks for a reliable connection
/// @param mtu the code of the path MTU, 1 for 256 to 5 for 4096 bytes
/// @param retries how often unacknowledged packets are retransmitted, 0 to 7
/// @param rnrRetries how often the receiver retries a message that finds no receive here, 0 to 7
/// @param ackTimeout the code of the receiver's retransmission timeout
/// @param trafficClass of the path
/// @param source the GID of this side
/// @param destination the GID of the other side
/// @param addresses those of the programs; null if they are not of IPv4
/// @param privateData of the program
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ConnectRequest(
        int id,
        long service,
        long guid,
        int queuePair,
        int psn,
        ReadDepths depths,
        boolean reliable,
        int mtu,
        int retries,
        int rnrRetries,
        int ackTimeout,
        int trafficClass,
        Gid source,
        Gid destination,
        @Nullable ProgramAddress addresses,
        byte[] privateData)
        implements ConnectionMessage {
    /// The most private data.
    public static final int MOST_PRIVATE_DATA = 56;

    static final int ATTRIBUTE = 0x10;

    /// How long a manager may take to answer, as in Linux: 4.096 us times 2 to the power of 20 is 4.3 s.
    private static final int PEER_TIMEOUT = 20;
    /// The peer retransmits its reply after 268 ms, because this side answers at once.
    private static final int OWN_TIMEOUT = 16;

    private static final int MANAGER_RETRIES = 15;
    private static final int PARTITION = 0xffff;
    private static final int NO_LID = 0xffff;
    private static final int HOP_LIMIT = 64;
    private static final int SUBNET_LOCAL = 0x08;
    private static final int FLOW_CONTROL = 1;
    private static final int TRANSPORT_MASK = 3;
    private static final int UNRELIABLE = 1;
    private static final int ADDRESSES_AT = 140;

    /// @throws IllegalArgumentException if there is too much private data
    public ConnectRequest {
        Fields.checkPrivateData(privateData, MOST_PRIVATE_DATA);
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putLong(8, service);
        to.putLong(16, guid);
        Fields.number(to, 32, queuePair, depths.accepts());
        to.put(39, (byte) depths.makes());
        int transport = reliable ? 0 : UNRELIABLE;
        to.put(43, (byte) (PEER_TIMEOUT << 3 | transport << 1 | FLOW_CONTROL));
        Fields.number(to, 44, psn, OWN_TIMEOUT << 3 | retries);
        to.putShort(48, (short) PARTITION);
        to.put(50, (byte) (mtu << 4 | rnrRetries));
        to.put(51, (byte) (MANAGER_RETRIES << 4));
        to.putShort(52, (short) NO_LID);
        to.putShort(54, (short) NO_LID);
        Fields.gid(to, 56, source);
        Fields.gid(to, 72, destination);
        to.put(92, (byte) trafficClass);
        to.put(93, (byte) HOP_LIMIT);
        to.put(94, (byte) SUBNET_LOCAL);
        to.put(95, (byte) (ackTimeout << 3));
        if (addresses != null) {
            addresses.encode(to, ADDRESSES_AT);
        }
        to.put(ADDRESSES_AT + ProgramAddress.BYTES, privateData);
    }

    static ConnectRequest decode(ByteBuffer from) {
        return new ConnectRequest(
                from.getInt(0),
                from.getLong(8),
                from.getLong(16),
                Fields.number(from, 32),
                Fields.number(from, 44),
                new ReadDepths(Fields.unsigned(from, 35), Fields.unsigned(from, 39)),
                (Fields.unsigned(from, 43) >>> 1 & TRANSPORT_MASK) == 0,
                Fields.unsigned(from, 50) >>> 4,
                Fields.unsigned(from, 47) & 7,
                Fields.unsigned(from, 50) & 7,
                Fields.unsigned(from, 95) >>> 3,
                Fields.unsigned(from, 92),
                Fields.gid(from, 56),
                Fields.gid(from, 72),
                ProgramAddress.decode(from, ADDRESSES_AT),
                Fields.bytes(from, ADDRESSES_AT + ProgramAddress.BYTES, MOST_PRIVATE_DATA));
    }
}
