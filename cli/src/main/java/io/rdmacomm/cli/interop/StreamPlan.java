package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.rig.Waiting;
import java.util.List;

/// What both ends have agreed on by their command lines: rstream exchanges nothing.
///
/// @param connections the tests of each connection, one after the other
/// @param waiting how to wait for the peer
/// @param verified whether the data is checked
/// @param bufferBytes the size of the buffers of a socket
record StreamPlan(List<List<StreamTest>> connections, Waiting waiting, boolean verified, int bufferBytes) {
    /// The size of the longest transfer.
    int longest() {
        return connections.stream()
                .flatMap(List::stream)
                .mapToInt(StreamTest::bytes)
                .max()
                .orElse(StreamTest.DEFAULT_BYTES);
    }
}
