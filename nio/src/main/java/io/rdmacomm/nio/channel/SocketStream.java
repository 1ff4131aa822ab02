package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/// The bytes of a [RdmaSocketChannel], over an rsocket or over TCP. One thread at a time reads, and one writes; others
/// wait. The methods without a description are those of [SocketChannel].
interface SocketStream {
    int read(ByteBuffer target) throws IOException;

    long read(ByteBuffer[] targets, int offset, int length) throws IOException;

    /// Reads for a socket with a timeout.
    ///
    /// @param nanos the longest wait of a blocking channel
    /// @return the number of bytes; 0 also if the time is up
    int readWithin(ByteBuffer target, long nanos) throws IOException;

    /// The least number of bytes that can be read without waiting.
    int available() throws IOException;

    int write(ByteBuffer source) throws IOException;

    long write(ByteBuffer[] sources, int offset, int length) throws IOException;

    /// Sends a part of a file.
    ///
    /// @return the number of bytes; fewer than `count` if a non-blocking channel has no room for more
    long transferFrom(FileChannel file, long position, long count) throws IOException;

    /// Sends a byte of urgent data.
    ///
    /// @throws java.net.SocketException over an rsocket, which does not support it
    void sendUrgentData(int data) throws IOException;

    /// The channel reads no more.
    void shutdownInput() throws IOException;

    /// The channel writes no more; calls [RdmaSocketChannel#outputClosed()] if that succeeds.
    void shutdownOutput() throws IOException;

    /// Threads that wait look again whether their call has ended.
    void wake();
}
