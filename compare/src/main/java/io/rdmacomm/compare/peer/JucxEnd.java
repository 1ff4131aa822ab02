package io.rdmacomm.compare.peer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.openucx.jucx.UcxUtils;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpRequestParams;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;
import org.openucx.jucx.ucs.UcsConstants.MEMORY_TYPE;
import org.openucx.jucx.ucs.UcsConstants.STATUS;

/// One end of a pair that talks through jucx, for one thread, which polls. The ends find each other over a socket. Each
/// has memory of the same size, into which the other one can write. The environment variable `UCX_TLS` chooses the
/// transports.
final class JucxEnd implements AutoCloseable {
    private final SocketChannel socket;
    private final PollDeadline deadline;
    private final UcpContext context;
    private final UcpWorker worker;
    private final UcpEndpoint peer;
    private final UcpMemory memory;
    private final ByteBuffer view;
    private final UcpRemoteKey remoteKey;
    private final long address;
    private final long remoteAddress;

    /// The number by which jucx otherwise says that it does not know the type changes with the version of UCX.
    private final UcpRequestParams onHost = new UcpRequestParams().setMemoryType(MEMORY_TYPE.UCS_MEMORY_TYPE_HOST);

    /// Connects. Blocks until the other end does the same.
    ///
    /// @param socket to the other end, blocking; closed with this end
    /// @param memoryBytes the size of the memory of each end
    JucxEnd(SocketChannel socket, Task task, long memoryBytes) throws IOException {
        this.socket = socket;
        this.deadline = new PollDeadline(task);
        context = new UcpContext(new UcpParams().requestTagFeature().requestRmaFeature());
        worker = context.newWorker(new UcpWorkerParams());
        peer = worker.newEndpoint(new UcpEndpointParams().setUcpAddress(exchanged(worker.getAddress())));
        // Memory that UCX allocates can be shared memory.
        memory = context.memoryMap(new UcpMemMapParams().allocate().setLength(memoryBytes));
        address = memory.getAddress();
        view = UcxUtils.getByteBufferView(address, memoryBytes);
        remoteKey = peer.unpackRemoteKey(exchanged(memory.getRemoteKeyBuffer()));
        remoteAddress = exchanged(ByteBuffer.allocateDirect(Long.BYTES).putLong(0, address))
                .getLong(0);
    }

    /// Sends bytes over the socket, and receives those of the other end.
    private ByteBuffer exchanged(ByteBuffer own) throws IOException {
        ByteBuffer size = ByteBuffer.allocate(Integer.BYTES).putInt(0, own.remaining());
        Sockets.writeFully(socket, size);
        Sockets.writeFully(socket, own.duplicate());
        return read(ByteBuffer.allocateDirect(read(size.clear()).getInt(0)));
    }

    private ByteBuffer read(ByteBuffer bytes) throws IOException {
        if (!Sockets.readFully(socket, bytes)) {
            throw new EOFException("the other end hung up");
        }
        return bytes.flip();
    }

    byte value(int offset) {
        return view.get(offset);
    }

    void setValue(int offset, byte value) {
        view.put(offset, value);
    }

    /// Begins to send a part of the memory.
    UcpRequest send(long offset, long bytes, long tag) {
        return peer.sendTaggedNonBlocking(address + offset, bytes, tag, null, onHost);
    }

    /// Begins to receive a message with any tag into a part of the memory.
    UcpRequest receive(long offset, long bytes) {
        return worker.recvTaggedNonBlocking(address + offset, bytes, 0, 0, null, onHost);
    }

    /// Begins to write a part of the memory into the memory of the other end.
    UcpRequest put(long from, long to, long bytes) {
        return peer.putNonBlocking(address + from, bytes, remoteAddress + to, remoteKey, null, onHost);
    }

    /// Begins to wait for the arrival of everything that has been written.
    UcpRequest flush() {
        return peer.flushNonBlocking(null);
    }

    /// Polls until an operation is complete.
    UcpRequest await(UcpRequest request) {
        deadline.begin();
        while (!request.isCompleted()) {
            poll();
        }
        if (request.getStatus() != STATUS.UCS_OK) {
            throw new IllegalStateException("UCX ended an operation with status " + request.getStatus());
        }
        return request;
    }

    /// Polls until a byte of the memory has another value.
    ///
    /// @return its new value
    byte awaitChange(int offset, byte value) {
        deadline.begin();
        // The native call between two reads keeps the compiler from leaving them out.
        while (view.get(offset) == value) {
            poll();
        }
        return view.get(offset);
    }

    private void poll() {
        try {
            worker.progress();
        } catch (Exception e) { // as it is declared
            throw new IllegalStateException("UCX failed", e);
        }
        deadline.spend("UCX completed nothing");
    }

    @Override
    public void close() throws IOException {
        try (socket) {
            remoteKey.close();
            memory.close();
            peer.close();
            worker.close();
            context.close();
        }
    }
}
