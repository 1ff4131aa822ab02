package io.rdmacomm.soft.tcp;

/// A table of who drives a TCP link. [LinkDriver] sends and receives, and looks up its next step here.
///
/// A thread that posts to a link, or polls or waits at one of its completion queues, drives the link itself unless
/// another thread does. The table governs the engine: it must read the socket when no thread does, and must not
/// compete with a thread that does. The state tells who reads incoming data:
///
/// - `NOBODY`: the link is not open yet, or is closed.
/// - `ENGINE`: the engine, as soon as its selector finds the socket ready.
/// - `STREAM`: the engine, in each of its passes, because each wake-up of its selector would slow the sender.
/// - `THREAD`: a thread that polls or waits. The engine ignores the socket, and checks it when it is due.
///
/// | Event                | NOBODY    | ENGINE       | STREAM       | THREAD       |
/// |----------------------|-----------|--------------|--------------|--------------|
/// | OPENED               | to ENGINE |              |              |              |
/// | SOCKET_READY         |           | check        | check        | check        |
/// | PASS                 |           |              | check        |              |
/// | DUE                  |           |              | check        | check        |
/// | RECALLED             |           |              | check        | check        |
/// | ATTENDED             |           | to THREAD    | to THREAD    | to THREAD    |
/// | LOCKED               |           | to THREAD    | to THREAD    | to THREAD    |
/// | STREAM_ARRIVED       |           | to STREAM    | to STREAM    | to STREAM    |
/// | STREAM_PAUSED        |           | to ENGINE    | to STREAM    | to ENGINE    |
/// | STREAM_ENDED         |           | to ENGINE    | to ENGINE    | to ENGINE    |
/// | FRAMES_LEFT          |           | both send    | both send    | thread sends |
/// | FRAMES_LEFT_AWAITED  |           | engine sends | engine sends | check soon   |
/// | ACKNOWLEDGEMENT_LEFT |           | both send    | both send    |              |
/// | CLOSED               |           | to NOBODY    | to NOBODY    | to NOBODY    |
///
/// Only the engine changes the state, except for `OPENED`. When it checks a link, it finds one of the five events
/// from `ATTENDED` to `STREAM_ENDED`. Threads that poll and wait change nothing here, which keeps polling cheap: the
/// engine sees their activity in their completion queues.
final class DrivingTable {
    /// Who reads what arrives.
    enum State {
        /// The link is not open yet, or is closed.
        NOBODY,
        /// The engine, when its selector finds the socket ready.
        ENGINE,
        /// The engine, in each of its passes.
        STREAM,
        /// A thread that polls or waits.
        THREAD
    }

    /// Events: a link needs something, or the engine found something when it checked the link.
    enum Event {
        /// The link is about to be registered with the selectors.
        OPENED(Step.TO_ENGINE, Step.NOTHING, Step.NOTHING, Step.NOTHING),
        /// The engine's selector found data, or room in a socket that was full.
        SOCKET_READY(Step.NOTHING, Step.CHECK, Step.CHECK, Step.CHECK),
        /// A pass of the engine before this link is due.
        PASS(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.NOTHING),
        /// A pass of the engine once this link is due.
        DUE(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.CHECK),
        /// A thread is about to sleep, or sleeps at the sockets while frames are unsent.
        RECALLED(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.CHECK),
        /// The engine found that a thread has polled a moment ago, or waits at the sockets.
        ATTENDED(Step.NOTHING, Step.TO_THREAD, Step.TO_THREAD, Step.TO_THREAD),
        /// The engine found that another thread drives the link.
        LOCKED(Step.NOTHING, Step.TO_THREAD, Step.TO_THREAD, Step.TO_THREAD),
        /// The engine has read so much that more is likely to follow.
        STREAM_ARRIVED(Step.NOTHING, Step.TO_STREAM, Step.TO_STREAM, Step.TO_STREAM),
        /// The engine has read little, but the timeout of the stream has not expired.
        STREAM_PAUSED(Step.NOTHING, Step.TO_ENGINE, Step.TO_STREAM, Step.TO_ENGINE),
        /// The engine has read little, and the timeout of the stream has expired.
        STREAM_ENDED(Step.NOTHING, Step.TO_ENGINE, Step.TO_ENGINE, Step.TO_ENGINE),
        /// The socket did not take all frames; raised by any thread that drives the link.
        FRAMES_LEFT(Step.NOTHING, Step.BOTH_SEND, Step.BOTH_SEND, Step.THREAD_SENDS),
        /// The same while a thread waits at the sockets: incoming data wakes it up, but not room in the socket.
        FRAMES_LEFT_AWAITED(Step.NOTHING, Step.ENGINE_SENDS, Step.ENGINE_SENDS, Step.CHECK_SOON),
        /// A polling thread has received messages, and delays the acknowledgement as the program may answer.
        ACKNOWLEDGEMENT_LEFT(Step.NOTHING, Step.BOTH_SEND, Step.BOTH_SEND, Step.NOTHING),
        /// The engine found that the link is closed.
        CLOSED(Step.NOTHING, Step.TO_NOBODY, Step.TO_NOBODY, Step.TO_NOBODY);

        private final Step inNobody;
        private final Step inEngine;
        private final Step inStream;
        private final Step inThread;

        Event(Step inNobody, Step inEngine, Step inStream, Step inThread) {
            this.inNobody = inNobody;
            this.inEngine = inEngine;
            this.inStream = inStream;
            this.inThread = inThread;
        }
    }

    /// The step that an event causes.
    enum Step {
        /// Nothing.
        NOTHING,
        /// The engine stops driving the link.
        TO_NOBODY,
        /// The engine's selector watches the socket.
        TO_ENGINE,
        /// The engine reads the link in each pass for a while.
        TO_STREAM,
        /// The engine leaves the link alone for a while.
        TO_THREAD,
        /// The engine drives the link unless a thread does.
        CHECK,
        /// The engine checks the link at once.
        CHECK_SOON,
        /// The next poll drives the link.
        THREAD_SENDS,
        /// The engine drives the link as soon as the socket has room.
        ENGINE_SENDS,
        /// Both of these; the thread only if one polls.
        BOTH_SEND
    }

    private DrivingTable() {}

    /// The step that `event` causes in a state.
    static Step step(State state, Event event) {
        return switch (state) {
            case NOBODY -> event.inNobody;
            case ENGINE -> event.inEngine;
            case STREAM -> event.inStream;
            case THREAD -> event.inThread;
        };
    }

    /// The state after `event`.
    static State next(State state, Event event) {
        return switch (step(state, event)) {
            case TO_NOBODY -> State.NOBODY;
            case TO_ENGINE -> State.ENGINE;
            case TO_STREAM -> State.STREAM;
            case TO_THREAD -> State.THREAD;
            case NOTHING, CHECK, CHECK_SOON, THREAD_SENDS, ENGINE_SENDS, BOTH_SEND -> state;
        };
    }
}
