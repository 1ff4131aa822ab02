package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.transport.RequestQueue;

/// Tracks the requests of a [RequestQueue] that a link sends, and completes them. They complete in posting order,
/// when the peer has acknowledged or answered them; a third-party peer does not acknowledge, so there they complete
/// when TCP has them (RFC 5040 5.5).
///
/// ```
/// queue  | complete | sent, waits for the peer | next: being sent | waits to be sent |
///                   ^ head                     ^ next                                ^ tail
/// ```
/// Messages are counted modulo 2^32; an acknowledgement carries such a count. Under the queue pair's send lock.
final class SentRequests {
    /// No position.
    static final long NOWHERE = -1;

    private final RequestQueue queue;
    private final boolean acknowledging;

    // By place in the queue: the message count before and after the request.
    private final int[] firstMessage;
    private final int[] endMessage;
    // The numbers of the request's first Send and first Read Request.
    private final int[] sendNumber;
    private final int[] requestNumber;
    // The responses that the request waits for.
    private final int[] owed;

    private long next;
    private boolean begun;
    private int stage;
    private int messages;
    private int acknowledged;
    private long stopAt = NOWHERE;
    private int stopStatus;
    private int stopVendor;

    /// Nothing of the queue was sent yet.
    ///
    /// @param acknowledging whether the peer acknowledges what it has carried out
    SentRequests(RequestQueue queue, boolean acknowledging) {
        this.queue = queue;
        this.acknowledging = acknowledging;
        int size = queue.size();
        firstMessage = new int[size];
        endMessage = new int[size];
        sendNumber = new int[size];
        requestNumber = new int[size];
        owed = new int[size];
        next = queue.head();
    }

    private int place(long position) {
        return (int) position & (queue.size() - 1);
    }

    // ---- Sending ----

    /// Whether requests are in flight.
    boolean isWaiting() {
        return queue.head() != next || begun;
    }

    /// Whether there is a request to send, and none before it has failed.
    boolean hasNext() {
        return stopAt == NOWHERE && next != queue.tail();
    }

    /// The position of the request that is being sent, or is to be sent next.
    long next() {
        return next;
    }

    /// Whether the next request has begun.
    boolean isBegun() {
        return begun;
    }

    /// The number of parts of the next request that were sent.
    int stage() {
        return stage;
    }

    /// Whether everything before the next request has ended.
    boolean isNextOldest() {
        return queue.head() == next;
    }

    /// Begins to send the next request.
    ///
    /// @param send number of the next Send
    /// @param readRequest number of the next Read Request
    void begin(int send, int readRequest) {
        int place = place(next);
        firstMessage[place] = messages;
        sendNumber[place] = send;
        requestNumber[place] = readRequest;
        owed[place] = 0;
        begun = true;
    }

    /// A message of the next request has begun.
    void countMessage() {
        messages++;
    }

    /// The next request waits for one more response.
    void expectResponse() {
        owed[place(next)]++;
    }

    /// A part of the next request was sent.
    ///
    /// @param stages how many parts it has
    void endStage(int stages) {
        stage++;
        if (stage == stages) {
            endMessage[place(next)] = messages;
            next++;
            stage = 0;
            begun = false;
        }
    }

    /// Does not wait for the part of the next request that has begun.
    void abandon() {
        begun = false;
    }

    /// TCP has all messages: to a peer that does not acknowledge, this counts as an acknowledgement.
    void allWritten() {
        if (!acknowledging) {
            acknowledged = begun ? firstMessage[place(next)] : messages;
        }
    }

    // ---- What the peer reports ----

    /// The peer has executed `count` messages.
    ///
    /// @return false if that is impossible
    boolean acknowledge(int count) {
        if (Integer.compareUnsigned(count - acknowledged, messages - acknowledged) > 0) {
            return false;
        }
        acknowledged = count;
        return true;
    }

    /// The count of the peer's last acknowledgement.
    int acknowledged() {
        return acknowledged;
    }

    /// The position of the request with the first unacknowledged message, or [#NOWHERE].
    long refused() {
        for (long position = queue.head(); position < next || (position == next && begun); position++) {
            int place = place(position);
            int end = position == next ? messages : endMessage[place];
            if (Integer.compareUnsigned(acknowledged - firstMessage[place], end - firstMessage[place]) < 0) {
                return position;
            }
        }
        return NOWHERE;
    }

    /// The number of the first Send of the request at `position`, or after it.
    int sendNumber(long position) {
        return sendNumber[place(position)];
    }

    /// The number of the first Read Request of the request at `position`, or after it.
    int requestNumber(long position) {
        return requestNumber[place(position)];
    }

    /// Resends from the [#refused] request at `position`.
    ///
    /// @param done how many of its parts were carried out
    void goBackTo(long position, int done) {
        next = position;
        messages = acknowledged;
        stage = done;
        begun = false;
    }

    /// A response to the request at `position` is complete.
    void answered(long position) {
        if (position != NOWHERE) {
            owed[place(position)]--;
        }
    }

    // ---- Failing ----

    /// The peer has refused the first unacknowledged message.
    void refuse(int status, int vendorError) {
        long position = refused();
        stop(position == NOWHERE ? queue.head() : position, status, vendorError);
    }

    /// The next request fails.
    void stopNext(int status) {
        stop(next, status, 0);
    }

    /// The request at `position` fails; it is not sent any further.
    void stop(long position, int status, int vendorError) {
        if (stopAt == NOWHERE || position < stopAt) {
            stopAt = position;
            stopStatus = status;
            stopVendor = vendorError;
        }
    }

    // ---- Completing ----

    /// Completes finished requests in posting order.
    ///
    /// @return whether the oldest request has failed: see [#failure]
    boolean completeRequests() {
        long head = queue.head();
        while (head != next && head != stopAt && isDone(place(head))) {
            queue.completer().succeed(queue.segment(), queue.at(head));
            queue.removeHead();
            head++;
        }
        return head == stopAt;
    }

    private boolean isDone(int place) {
        return owed[place] == 0 && acknowledged - endMessage[place] >= 0;
    }

    /// The status that the oldest request has failed with.
    int failure() {
        return stopStatus;
    }

    /// The vendor error that the oldest request has failed with.
    int vendorError() {
        return stopVendor;
    }
}
