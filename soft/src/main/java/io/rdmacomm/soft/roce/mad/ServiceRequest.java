package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// SIDR_REQ: asks for the queue pair that receives the datagrams of a service (IBTA 12.11.1).
///
/// @param id of the request
/// @param service the service ID
/// @param addresses those of the programs; null if they are not of IPv4
/// @param privateData of the program
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ServiceRequest(int id, long service, @Nullable ProgramAddress addresses, byte[] privateData)
        implements ConnectionMessage {
    static final int ATTRIBUTE = 0x17;

    private static final int MOST_PRIVATE_DATA = 180;
    private static final int PARTITION = 0xffff;
    private static final int ADDRESSES_AT = 16;

    /// @throws IllegalArgumentException if there is too much private data
    public ServiceRequest {
        Fields.checkPrivateData(privateData, MOST_PRIVATE_DATA);
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putShort(4, (short) PARTITION);
        to.putLong(8, service);
        if (addresses != null) {
            addresses.encode(to, ADDRESSES_AT);
        }
        to.put(ADDRESSES_AT + ProgramAddress.BYTES, privateData);
    }

    static ServiceRequest decode(ByteBuffer from) {
        return new ServiceRequest(
                from.getInt(0),
                from.getLong(8),
                ProgramAddress.decode(from, ADDRESSES_AT),
                Fields.bytes(from, ADDRESSES_AT + ProgramAddress.BYTES, MOST_PRIVATE_DATA));
    }
}
