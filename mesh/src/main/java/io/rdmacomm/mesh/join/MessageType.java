package io.rdmacomm.mesh.join;

import java.nio.ByteBuffer;

/// The types of the messages between a node and the rendezvous. The first byte of each message is its type.
enum MessageType {
    /// A node registers; see [NodeRegistration].
    REGISTER(1),
    /// All nodes have registered; see [NodeTable].
    TABLE(2),
    /// From a node: it is connected with all others. From the rendezvous: all nodes are. Nothing follows the type.
    READY(3);

    private final byte code;

    MessageType(int code) {
        this.code = (byte) code;
    }

    /// A message that begins with this type.
    ///
    /// @param most the most bytes that follow
    ByteBuffer begin(int most) {
        return ByteBuffer.allocate(1 + most).put(code);
    }

    /// Takes the type off a message.
    ///
    /// @throws IllegalArgumentException if it has another one
    void takeFrom(ByteBuffer message) {
        if (!message.hasRemaining() || message.get() != code) {
            throw new IllegalArgumentException("another message than " + this);
        }
    }
}
