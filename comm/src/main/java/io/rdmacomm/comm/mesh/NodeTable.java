package io.rdmacomm.comm.mesh;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The payload of TABLE, in network order; an entry for each node by rank:
///
/// ```
///  0                              16              20
/// +------------------------------+---------------+------------------------------------------+
/// | token                        | size          | size x (session port: 2 bytes,           |
/// |                              |               |  length 0, 4 or 16: 1 byte, address)     |
/// +------------------------------+---------------+------------------------------------------+
/// ```
///
/// The largest mesh, [Rendezvous#MAX_SIZE], fits into one frame whatever the addresses are. A node without an address
/// is on the host of the rendezvous, which may have another address for each node.
///
/// @param token known to the nodes of this mesh only
/// @param nodes by rank
record NodeTable(UUID token, List<Entry> nodes) {
    private static final int HEADER = 20;
    private static final int MAX_ENTRY = 2 + 1 + 16;

    NodeTable {
        nodes = List.copyOf(nodes);
    }

    /// Where the session of a node listens.
    ///
    /// @param address null for the host of the rendezvous
    record Entry(@Nullable InetAddress address, int port) {
        private void put(ByteBuffer to) {
            byte[] bytes = address == null ? new byte[0] : address.getAddress();
            to.putShort((short) port).put((byte) bytes.length).put(bytes);
        }

        private static Entry get(ByteBuffer from) {
            int port = from.getShort() & 0xffff;
            byte[] bytes = new byte[from.get() & 0xff];
            from.get(bytes);
            if (port == 0) {
                throw new IllegalArgumentException("a node listens on port 0");
            }
            try {
                return new Entry(bytes.length == 0 ? null : InetAddress.getByAddress(bytes), port);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException("an address has " + bytes.length + " bytes", e);
            }
        }
    }

    ByteBuffer encode() {
        ByteBuffer to = ByteBuffer.allocate(HEADER + nodes.size() * MAX_ENTRY);
        to.putLong(token.getMostSignificantBits()).putLong(token.getLeastSignificantBits());
        to.putInt(nodes.size());
        nodes.forEach(node -> node.put(to));
        return to.flip();
    }

    /// @throws IllegalArgumentException if it is something else
    static NodeTable decode(ByteBuffer from, int size) {
        try {
            UUID token = new UUID(from.getLong(), from.getLong());
            if (from.getInt() != size) {
                throw new IllegalArgumentException("the table is of another size");
            }
            List<Entry> nodes = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                nodes.add(Entry.get(from));
            }
            if (from.hasRemaining()) {
                throw new IllegalArgumentException("the table is followed by something");
            }
            return new NodeTable(token, nodes);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("the table is cut off", e);
        }
    }
}
