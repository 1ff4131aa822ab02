package io.rdmacomm.soft.tcp;

/// Who drives a TCP link, in one table. [LinkDriver] makes all calls that send and receive, and looks up here what
/// follows from them.
///
/// A thread that posts, or that polls or waits at a completion queue of the link, drives the link there and
/// then unless another thread does. So the table is about the engine: it must not compete with a thread that
/// reads the socket, and must read it when no thread does. The state shows who reads what arrives:
///
/// - `NOBODY`: the link is not open yet, or is closed.
/// - `ENGINE`: the engine, as soon as its selector finds the socket ready.
/// - `STREAM`: the engine, in each of its passes, because each wake-up of its selector would slow the sender.
/// - `THREAD`: a thread that polls or waits. The engine ignores the socket, and checks it at the time that is due.
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
/// from `ATTENDED` to `STREAM_ENDED`. Threads that poll and wait change nothing here, so that polling stays cheap: the
/// engine sees in their completion queues what they do.
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

    /// A need of a link, or a finding of the engine when it checks the link.
    enum Event {
        /// The link is about to be registered with the selectors.
        OPENED(Step.TO_ENGINE, Step.NOTHING, Step.NOTHING, Step.NOTHING),
        /// The engine's selector found data, or room in a socket that was full.
        SOCKET_READY(Step.NOTHING, Step.CHECK, Step.CHECK, Step.CHECK),
        /// The engine passes over its links, before the time of this one has come.
        PASS(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.NOTHING),
        /// The engine passes over its links, and the time of this one has come.
        DUE(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.CHECK),
        /// A thread is about to sleep, or sleeps at the sockets although frames are left.
        RECALLED(Step.NOTHING, Step.NOTHING, Step.CHECK, Step.CHECK),
        /// The engine found that a thread has polled a moment ago, or waits at the sockets.
        ATTENDED(Step.NOTHING, Step.TO_THREAD, Step.TO_THREAD, Step.TO_THREAD),
        /// The engine found that another thread drives the link.
        LOCKED(Step.NOTHING, Step.TO_THREAD, Step.TO_THREAD, Step.TO_THREAD),
        /// The engine has read so much that more is likely to follow.
        STREAM_ARRIVED(Step.NOTHING, Step.TO_STREAM, Step.TO_STREAM, Step.TO_STREAM),
        /// The engine has read little, but the time of a stream has not run out.
        STREAM_PAUSED(Step.NOTHING, Step.TO_ENGINE, Step.TO_STREAM, Step.TO_ENGINE),
        /// The engine has read little, and the time of a stream has run out.
        STREAM_ENDED(Step.NOTHING, Step.TO_ENGINE, Step.TO_ENGINE, Step.TO_ENGINE),
        /// The socket did not take all frames; any thread that has driven the link.
        FRAMES_LEFT(Step.NOTHING, Step.BOTH_SEND, Step.BOTH_SEND, Step.THREAD_SENDS),
        /// The same while a thread waits at the sockets: it wakes up when data arrives, and not when there is room.
        FRAMES_LEFT_AWAITED(Step.NOTHING, Step.ENGINE_SENDS, Step.ENGINE_SENDS, Step.CHECK_SOON),
        /// A polling thread has received messages, and has not acknowledged them in case the program answers.
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
        /// The engine lets go of the link for good.
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
        /// Both; the thread only if one polls.
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
