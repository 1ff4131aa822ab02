package io.rdmacomm.mesh.join;

import io.rdmacomm.verbs.Printable;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// The message REGISTER, in network order:
///
/// ```
///  0   1               5               9       11      13              17      19
/// +---+---------------+---------------+-------+-------+---------------+-------+--------------+-----------+
/// | 1 | size          | rank          |session|data   | timeout in ms |length |job in UTF-8  |ignored ...|
/// |   |               |               |port   |chann. |               |of job |              |           |
/// +---+---------------+---------------+-------+-------+---------------+-------+--------------+-----------+
/// ```
///
/// It does not contain the node's address: the rendezvous knows it from the connection.
///
/// @param size the number of nodes that this one was started for
/// @param sessionPort the port of its session
/// @param channels the number of data channels of each connection
/// @param timeout how long it waits for the others
/// @param job the name of its job
record NodeRegistration(int size, int rank, int sessionPort, int channels, Duration timeout, String job) {
    private static final int FIELDS = 18;

    ByteBuffer encode() {
        byte[] text = job.getBytes(StandardCharsets.UTF_8);
        ByteBuffer to = MessageType.REGISTER.begin(FIELDS + text.length);
        to.putInt(size).putInt(rank).putShort((short) sessionPort).putShort((short) channels);
        to.putInt((int) timeout.plusNanos(999_999).toMillis())
                .putShort((short) text.length)
                .put(text);
        return to.flip();
    }

    /// @throws IllegalArgumentException if it is not a valid registration
    static NodeRegistration decode(ByteBuffer from) {
        try {
            MessageType.REGISTER.takeFrom(from);
            int size = from.getInt();
            int rank = from.getInt();
            int port = from.getShort() & 0xffff;
            int channels = from.getShort() & 0xffff;
            int timeout = from.getInt();
            int length = from.getShort() & 0xffff;
            if (from.remaining() < length || port == 0 || timeout <= 0) {
                throw new IllegalArgumentException("the registration is invalid");
            }
            byte[] text = new byte[length];
            from.get(text);
            String job = Printable.text(text);
            return new NodeRegistration(size, rank, port, channels, Duration.ofMillis(timeout), job);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("the registration is cut off", e);
        }
    }

    /// The reason why two nodes cannot be in the same mesh; empty if they can.
    String difference(NodeRegistration other) {
        if (!job.equals(other.job)) {
            return "it belongs to another job";
        }
        if (size != other.size) {
            return "it was started for " + size + " nodes, this mesh has " + other.size;
        }
        if (rank < 0 || rank >= size) {
            return "its rank is " + rank + ", must be 0 to " + (size - 1);
        }
        return channels == other.channels
                ? ""
                : "it asks for " + (channels - 1) + " data channels, this mesh has " + (other.channels - 1);
    }
}
