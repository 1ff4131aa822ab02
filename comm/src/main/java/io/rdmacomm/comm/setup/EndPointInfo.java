package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelInfo;
import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.Printable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// The description that the two sides of an endpoint send each other in one frame each, in network order:
///
/// ```
///  0       1       2       4       6       8               16      18
/// +-------+-------+-------+-------+-------+---------------+-------+-------+--------------+-----------+
/// | link  | setup | count | name  | port  | token         |channel| name  | count x      |ignored ...|
/// | layer |       |       | length|       |               |bytes  |       | channel      |           |
/// +-------+-------+-------+-------+-------+---------------+-------+-------+--------------+-----------+
/// ```
///
/// The name is in UTF-8. Each channel is a ChannelInfo; that of the control channel comes first. The field "channel
/// bytes" is the length of each: extra bytes after a ChannelInfo are ignored.
///
/// @param name the name of this side, for people
/// @param linkLayer the network type of the device; both sides need the same
/// @param setup how the queue pairs can be connected; from a server, how they will be connected
/// @param channels the control channel, then the data channels
public record EndPointInfo(String name, LinkLayer linkLayer, SetupOffer setup, List<ChannelInfo> channels) {
    private static final int HEADER = 18;
    private static final int MAX_NAME_BYTES = 1024;

    /// Copies the list.
    public EndPointInfo {
        channels = List.copyOf(channels);
    }

    /// The payload of the frame.
    public ByteBuffer encode() {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        ByteBuffer to = ByteBuffer.allocate(HEADER + text.length + channels.size() * ChannelInfo.BYTES);
        to.put((byte) linkLayer.code()).put((byte) setup.bits());
        to.putShort((short) channels.size()).putShort((short) text.length);
        to.putShort((short) setup.port()).putLong(setup.token());
        to.putShort((short) ChannelInfo.BYTES).put(text);
        channels.forEach(channel -> channel.put(to));
        return to.flip();
    }

    /// Reads what [#encode()] wrote.
    ///
    /// @throws SetupException PROTOCOL_VIOLATED if it is invalid
    public static EndPointInfo decode(ByteBuffer from, String peer) {
        try {
            if (from.remaining() < HEADER) {
                throw new IllegalArgumentException("it has " + from.remaining() + " bytes");
            }
            LinkLayer linkLayer = LinkLayer.of(from.get());
            int setups = from.get();
            int count = Bounds.range("number of channels", from.getShort(), 2, 257);
            int length = Bounds.range("length of the name", from.getShort(), 0, MAX_NAME_BYTES);
            SetupOffer setup = SetupOffer.decode(setups, from.getShort() & 0xffff, from.getLong());
            int each = Bounds.range("length of a channel", from.getShort() & 0xffff, ChannelInfo.BYTES, 0xffff);
            if (from.remaining() < length + count * each) {
                throw new IllegalArgumentException(
                        "there are " + from.remaining() + " bytes for " + count + " channels");
            }
            byte[] text = new byte[length];
            from.get(text);
            String name = Printable.text(text);
            List<ChannelInfo> channels = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                int next = from.position() + each;
                channels.add(ChannelInfo.get(from));
                from.position(next);
            }
            return new EndPointInfo(name, linkLayer, setup, channels);
        } catch (IllegalArgumentException e) {
            throw new SetupException(
                    Reason.PROTOCOL_VIOLATED, peer + " sent an invalid description of itself: " + e.getMessage(), e);
        }
    }
}
