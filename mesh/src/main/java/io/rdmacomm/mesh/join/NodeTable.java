package io.rdmacomm.mesh.join;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The message TABLE, in network order; an entry for each node by rank:
///
/// ```
///  0   1                              17              21      23      25              33
/// +---+------------------------------+---------------+-------+-------+---------------+
/// | 2 | token                        | size          |version|   0   | features      |
/// +---+------------------------------+---------------+-------+-------+---------------+
///
/// then size x
///  0       1       3   4                              1 + B
/// +-------+-------+---+------------------------------+-----------+
/// | B, the|session| L | address, L bytes: 0, 4 or 16 |ignored ...|
/// | rest  |port   |   |                              |           |
/// +-------+-------+---+------------------------------+-----------+
/// ```
///
/// The largest mesh, 512 nodes, fits into one message with entries of up to 31 bytes. A node without an
/// address is on the host of the rendezvous, which may have another address for each node.
///
/// @param token a secret of the nodes of this mesh
/// @param version the lowest of the versions that the nodes have agreed on with the rendezvous
/// @param features the features that all nodes have, one bit each
/// @param nodes the nodes, by rank
record NodeTable(UUID token, int version, long features, List<Entry> nodes) {
    private static final int FIELDS = 32;

    NodeTable {
        nodes = List.copyOf(nodes);
    }

    /// The address and port of the session of a node.
    ///
    /// @param address null for the host of the rendezvous
    record Entry(@Nullable InetAddress address, int port) {
        private static final int FIXED = 3;
        private static final int MAX_ADDRESS = 16;
        private static final int MAX_BYTES = 1 + FIXED + MAX_ADDRESS;

        private void put(ByteBuffer to) {
            byte[] bytes = address == null ? new byte[0] : address.getAddress();
            to.put((byte) (FIXED + bytes.length)).putShort((short) port);
            to.put((byte) bytes.length).put(bytes);
        }

        /// @param from the rest of the entry
        private static Entry get(ByteBuffer from) {
            int port = from.getShort() & 0xffff;
            int length = from.get() & 0xff;
            if (port == 0) {
                throw new IllegalArgumentException("a node listens on port 0");
            }
            byte[] bytes = new byte[length];
            from.get(bytes);
            try {
                return new Entry(length == 0 ? null : InetAddress.getByAddress(bytes), port);
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException("an address has " + length + " bytes", e);
            }
        }
    }

    ByteBuffer encode() {
        ByteBuffer to = MessageType.TABLE.begin(FIELDS + nodes.size() * Entry.MAX_BYTES);
        to.putLong(token.getMostSignificantBits()).putLong(token.getLeastSignificantBits());
        to.putInt(nodes.size()).putShort((short) version).putShort((short) 0);
        to.putLong(features);
        nodes.forEach(node -> node.put(to));
        return to.flip();
    }

    /// @param size the number of nodes
    /// @param highest the version that this node has agreed on with the rendezvous
    /// @param known the features that it has agreed on
    /// @throws IllegalArgumentException if it is not a valid table for this node
    static NodeTable decode(ByteBuffer from, int size, int highest, long known) {
        try {
            MessageType.TABLE.takeFrom(from);
            UUID token = new UUID(from.getLong(), from.getLong());
            if (from.getInt() != size) {
                throw new IllegalArgumentException("the table is for another number of nodes");
            }
            int version = from.getShort() & 0xffff;
            if (version < 1 || version > highest) {
                throw new IllegalArgumentException("the table is for version " + version + " of the protocol");
            }
            from.getShort(); // Not used yet.
            long features = from.getLong() & known;
            List<Entry> nodes = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                byte[] entry = new byte[from.get() & 0xff];
                from.get(entry);
                nodes.add(Entry.get(ByteBuffer.wrap(entry)));
            }
            return new NodeTable(token, version, features, nodes);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("the table is cut off", e);
        }
    }
}
