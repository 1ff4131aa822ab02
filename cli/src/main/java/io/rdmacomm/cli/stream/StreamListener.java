package io.rdmacomm.cli.stream;

/// Hears of the tests of a stream.
interface StreamListener {
    /// A test begins.
    default void onBegin(StreamTest test) {}

    /// A test has ended well.
    void onEnd(StreamResult result);
}
