/* A line for each receive: how a producer delivers messages to the queue pair of another process.
 *
 * The owner of the queue pair has a ring of receives, and as many lines. Message k ends receive k, and arrives in line
 * k % SIZE. One producer, in a process of its own, is connected to the queue pair, and only it writes lines. It puts a
 * short message into the line, and the owner's poll moves it to the memory of the receive. It writes a long message to
 * that memory itself, after it has claimed the receive.
 *
 * The producer may be stopped between any two of its stores and go on much later or never, or die there. The owner may
 * fail the queue pair at any time, reset it and connect it to the same or another producer, close it, and deregister
 * the memory of receives, while another of its threads polls. When the queue pair fails, its owner waits for the
 * producer, but not forever. If the wait times out, the receive that the producer has claimed is held back: it ends
 * with its message, or when the producer has died. All later ones are flushed at once. A reset is refused until the
 * producer has finished.
 *
 * A step is what another thread or process can see. What happens while no thread polls (whileNotPolled) is one step. A
 * poll is several, because producers do not wait for it. Comments name the Java method that a part stands for.
 * `.ci/model` runs spin, as `./check --all` does.
 *
 * Checked in every state:
 *   - no receive ends twice, and receives end in the order of their positions, except one that was held back;
 *   - a receive ends with success only if its message is in its memory;
 *   - a send that has succeeded was received, or its receive was dropped by a reset;
 *   - only the producer that is connected writes to lines and receives, and nobody to lines that were freed;
 *   - nobody writes to the memory of a receive that has ended, or once that memory is deregistered;
 * and when nothing moves any more:
 *   - every receive has ended or was dropped by a reset, whatever happened to the producers, unless it is held back for
 *     one that has stopped forever;
 *   - the lines are free after a close, unless a producer has stopped forever.
 *
 * Left out: messages that end with an error, copies that fail, payloads that the owner copies, wake-ups, a producer
 * that binds again to the same connection, and the end of a connection: the owner may fail at any time, and a producer
 * that does nothing more is like one that has stopped.
 *
 * What is to be checked:
 * -DSIZE=n: how many lines there are.           -DDEPTH=n: how many receives may be posted at a time
 * -DRECEIVES=n: how many are posted in all.     -DRESETS=n: how many resets there may be, at most 2
 * -DMORTALS=n: how many of the two producers may die or stop forever.
 * -DDEREGISTERS: the memory of all receives that are posted at some time is deregistered.
 * -DCLOSES: the owner closes the queue pair in the end.
 *
 * Wrong rules, of which spin must find out:
 * -DUNCLAIMED: a producer writes to the memory of a receive without a claim.
 * -DENDS_UNLOOKED: a send succeeds even if the queue pair has failed before the message was complete.
 * -DUNNUMBERED: a producer looks only whether the queue pair accepts messages, of whatever connection.
 * -DRESETS_UNFINISHED: a reset does not mind an unfinished producer.
 * -DFREE_AT_ONCE: nor does a close.
 * -DUNLIMITED: a poll does not stop at the limit.
 * -DFLUSHES_FROM_NEXT: the limit is the next position that the producer names.
 * -DSCANS_UNLOCKED: a poll may come between the scan and the store of the limit.
 * -DNO_SETTLE: a deregistration does not move messages from lines to the memory.
 * -DSETTLES_UNLOCKED: a poll may come while it does.
 * -DSETTLES_ALL: it also moves those behind the limit.
 * -DPLAIN_UNREAD: a producer reads PLAIN before it executes.
 * -DPOLLS_UNAWAITED: a deregistration does not wait for a poll that has found the memory.
 * -DSTOPS_UNCOUNTED: nor for a producer, while the failing owner has not looked yet whether that is executing.
 */

#ifndef SIZE
#define SIZE 4
#endif
#ifndef DEPTH
#define DEPTH (SIZE / 2)
#endif
#ifndef RECEIVES
#define RECEIVES 3
#endif
#ifndef RESETS
#define RESETS 1
#endif
#ifndef MORTALS
#define MORTALS 1
#endif
#define PRODUCERS 2
#define CONNECTIONS 3 /* one more than resets */
#define NONE 255

/* A process that has stopped forever does nothing more, as one that has died; but only a death is known to others. One
 * that stops for a while is one that does not get its turn. */
#define STOPPED 1
#define DIED 2
byte gone[PRODUCERS];

/* In the owner's file. */
bool ready = true; /* with `connection` one word, QP_IDENTITY */
byte connection; /* a number that is never used again */
byte tail; /* the position of the next receive that is posted */
byte start; /* NEXT: where a producer begins */
byte claimed; /* the position of a receive + 1 */
#define CLOSED 254
#define ABANDONED 253 /* the same, and the owner has not waited until the producer's operation ended */
byte plainFrom; /* PLAIN: messages for receives before this position do not go to lines */
byte word[SIZE]; /* the position of a message + 1 */
byte body[SIZE]; /* the message, 0 if it is in the memory of the receive */

/* In the producer's file: whether the counter QP_EXECUTING is odd. Who has seen an odd value and waits for another one
 * has a bit in `awaited`, which the end of the operation clears. */
bool executing[PRODUCERS];
byte awaited[PRODUCERS];
#define BY_FAILURE 1
#define BY_DEREGISTRATION 2

/* Private to the owner. */
byte producer[CONNECTIONS]; /* of each connection */
bool locked; /* a thread polls */
byte arrived; /* the position that a poll looks at */
byte limit = NONE; /* polls do not go beyond it */
byte held = NONE; /* the receive that is held back */
byte flushed; /* the receives from the limit to here have ended as flushed */
bool counted; /* the queue pair has failed, and the owner knows whether the producer is unfinished */
byte revokedBefore; /* the memory of receives before this position is not found any more */
bool closed;

/* What happened, for the checks. */
#define RECEIVED 1
#define FLUSHED 2
#define DROPPED 3
byte ended[RECEIVES];
byte memory[RECEIVES]; /* the message in the memory of a receive, until it has ended */
bool succeeded[RECEIVES]; /* the send, until the receive has ended */
byte returnedBefore; /* the memory of receives before this position is deregistered */
bool freed;

#define cell(p) ((p) % SIZE)
#define message(p) ((p) + 1)
#define published(p) (word[cell(p)] == (p) + 1)

/* One step of process p, which may be stopped or dead before it. */
#define step(p) (gone[p] == 0)
#define dead(p) (gone[p] == DIED)

#ifdef UNNUMBERED
#define connected ready
#else
#define connected (ready && connection == mine)
#endif
#ifdef PLAIN_UNREAD
#define firstPlain plain
#else
#define firstPlain plainFrom
#endif
#ifdef ENDS_UNLOOKED
#define hasArrived true
#else
#define hasArrived (connected || claimed != ABANDONED)
#endif

/* Whether a producer may write. */
#define lawful (!freed && mine == connection)

/* A process with one queue pair. */
proctype Producer(byte me) {
    byte mine = NONE; /* the connection */
    byte next; /* the position of the next receive */
    byte known; /* the last claim */
    byte payload, plain;
    do
    :: atomic { step(me) && ready && producer[connection] == me && mine != connection -> mine = connection }
       atomic { step(me) -> next = start } /* PeerQueuePair.bind, LineWriter.find */
       atomic { step(me) -> known = claimed }
       do
       ::
#ifdef PLAIN_UNREAD
          atomic { step(me) -> plain = plainFrom }
#endif
          /* QueuePairBlock.beginExecuting. Without a receive, it would do nothing. */
          atomic { step(me) && (next < tail || !connected) -> executing[me] = true }
          if
          :: atomic { step(me) && connected -> skip }
          :: atomic { step(me) && !connected -> break }
          fi;
          if
          :: atomic { step(me) && next >= firstPlain -> payload = message(next) } /* a short message */
          :: atomic { step(me) && next >= revokedBefore -> payload = 0 } /* a long one: PeerQueuePair.find */
#ifndef UNCLAIMED
             if /* LineWriter.claim */
             :: atomic { step(me) && claimed == known -> claimed = next + 1; known = next + 1 }
             :: atomic { step(me) && claimed != known -> break }
             fi;
#endif
             atomic {
                 step(me) ->
                 assert(lawful && !ended[next] && next >= returnedBefore);
                 memory[next] = message(next)
             }
          :: atomic { step(me) && next < revokedBefore -> break } /* the send fails, and the queue pair with it */
          fi;
          atomic { step(me) -> assert(lawful); body[cell(next)] = payload; payload = 0; plain = 0 }
          atomic { step(me) -> assert(lawful); word[cell(next)] = next + 1 } /* LineWriter.publish */
          atomic { step(me) -> assert(lawful); start = next + 1 }
          if /* LineReceives.hasArrived */
          :: atomic {
                 step(me) && hasArrived ->
                 assert(ended[next] != FLUSHED);
                 succeeded[next] = !ended[next];
                 next++
             }
          :: atomic { step(me) && !hasArrived -> break }
          fi;
          atomic { step(me) -> executing[me] = false; awaited[me] = 0 } /* QueuePairBlock.endExecuting */
       od;
       atomic { step(me) -> executing[me] = false; awaited[me] = 0; next = 0; known = 0; payload = 0; plain = 0 }
    od
}

/* Who kills processes or stops them forever. */
proctype Fate(byte who) {
    if
    :: gone[who] = STOPPED
    :: gone[who] = DIED
    :: skip
    fi
}

#ifdef UNLIMITED
#define isThere(p) published(p)
#else
#define isThere(p) ((p) < limit && published(p)) /* ReceiveLines.isThere */
#endif

/* Moves a message from its line (ArrivedMessages.place). */
inline place(p) {
    assert(!ended[p] && p >= returnedBefore);
    memory[p] = body[cell(p)]
}

/* A receive ends. */
inline end(p, how) {
    assert(!ended[p]);
    assert(p == 0 || ended[p - 1] || p - 1 == held);
    assert(how == FLUSHED || memory[p] == message(p));
    assert(how == RECEIVED || !succeeded[p]);
    ended[p] = how;
    memory[p] = 0;
    succeeded[p] = false
}

/* A thread of the owner that polls and posts. */
proctype Poller() {
    do
    :: atomic { !closed && !locked && isThere(arrived) -> locked = true } /* ArrivedMessages.next */
       if
       :: atomic { body[cell(arrived)] != 0 && arrived >= revokedBefore -> skip }
          atomic { place(arrived) }
       :: atomic { body[cell(arrived)] == 0 || arrived < revokedBefore -> skip }
       fi;
       atomic { end(arrived, RECEIVED); arrived++; locked = false }
    :: atomic { /* when there is no message, it polls what was flushed */
           !closed && !locked && !isThere(arrived) && limit != NONE && flushed < tail ->
           end(flushed, FLUSHED);
           flushed++
       }
    :: atomic { /* and the receive that is held back no longer (ReceiveQueue.giveBack) */
           !closed && !locked && !isThere(arrived) && limit == held && held != NONE && !ended[held] ->
           end(held, FLUSHED)
       }
    :: atomic { ready && tail < RECEIVES && tail - arrived < DEPTH -> tail++ } /* the program posts another receive */
    od
}

/* Whether the operation that the owner saw when it failed has ended (ShmTransport.isPeerIdle). */
#define idle(q) (!(awaited[q] & BY_FAILURE) || dead(q))

/* SoftQueuePair.fail, ShmTransport.stop, ReceiveLines.close. */
inline fail() {
    ready = false;
#ifdef STOPS_UNCOUNTED
    counted = true;
#endif
    atomic {
        counted = true;
        q = producer[connection];
        if
        :: executing[q] -> awaited[q] = awaited[q] | BY_FAILURE
        :: else -> skip
        fi
    }
    if /* the wait ends when the producer has finished, or after a while */
    :: atomic { idle(q) -> busy = false }
    :: atomic { !idle(q) -> busy = true }
    fi;
    atomic { was = claimed; claimed = (busy -> ABANDONED : CLOSED) }
    atomic {
        !locked ->
#ifdef FLUSHES_FROM_NEXT
        s = start;
#else
        s = arrived;
        do
        :: s < tail && published(s) -> s++
        :: else -> break
        od;
#endif
#ifdef SCANS_UNLOCKED
    }
    atomic {
#endif
        if
        :: busy && was == s + 1 -> held = s; limit = s + 1
        :: else -> limit = s
        fi;
        flushed = limit;
        q = 0;
        s = 0;
        was = 0;
        busy = false
    }
}

#ifdef RESETS_UNFINISHED
#define resets true
#else
#define resets idle(producer[connection])
#endif

/* SoftQueuePair.reset, and the next connection (ReceiveLines.open). */
inline reset() {
    atomic {
        limit != NONE && !locked && connection < RESETS && resets ->
        for (s : arrived .. tail - 1) {
            if
            :: !ended[s] -> ended[s] = DROPPED; memory[s] = 0; succeeded[s] = false
            :: else -> skip
            fi
        }
        s = 0;
        arrived = tail;
        limit = NONE;
        held = NONE;
        flushed = 0;
        counted = false;
        start = arrived;
        claimed = 0;
        connection++;
        if /* to the same producer or another one */
        :: producer[connection] = 0
        :: producer[connection] = 1
        fi;
        ready = true
    }
}

/* A thread of the owner that changes the state of the queue pair; one at a time. */
proctype Control() {
    byte q, s, was;
    bool busy;
    do
    :: ready -> fail()
    :: reset()
    :: atomic { /* ReceiveQueue.takeBackHeld */
           held < limit && dead(producer[connection]) && !locked && !published(held) -> limit = held
       }
#ifdef CLOSES
    :: !ready -> break
#endif
    od;
    atomic { !locked -> closed = true; arrived = tail } /* SoftQueuePair.close */
#ifndef FREE_AT_ONCE
    idle(producer[connection]); /* PendingFrees.freeReleased */
#endif
    freed = true
}

#ifdef DEREGISTERS
#ifdef SETTLES_ALL
#define settles(p) published(p)
#else
#define settles(p) isThere(p)
#endif

/* Waits for the operation of the producer, if it is executing one (ShmTransport.operationOfPeer). */
inline awaitProducer() {
    atomic {
        q = producer[connection];
        by = (counted -> BY_FAILURE : BY_DEREGISTRATION);
        if
        :: executing[q] && !counted -> awaited[q] = awaited[q] | by
        :: else -> skip
        fi
    }
    atomic { !(awaited[q] & by) || dead(q) -> q = 0; by = 0 }
}

/* A thread of the owner that closes a region, the memory of all receives that were posted before. */
proctype Deregistration() {
    byte upTo, q, by, s;
    atomic { tail > 0 -> upTo = tail; plainFrom = upTo } /* ArrivedMessages.endPlain */
    awaitProducer();
#ifndef NO_SETTLE
    atomic { /* ArrivedMessages.placeInto */
        !locked ->
        s = arrived;
#ifdef SETTLES_UNLOCKED
    }
    atomic {
#endif
        do
        :: settles(s) ->
           if
           :: body[cell(s)] != 0 -> place(s)
           :: else -> skip
           fi;
           s++
        :: else -> break
        od;
        s = 0
    }
#endif
    revokedBefore = upTo; /* LocalMemory.remove */
    awaitProducer();
#ifndef POLLS_UNAWAITED
    !locked;
#endif
    returnedBefore = upTo
}
#endif

/* When nothing moves any more. */
proctype Check() {
    byte k;
    timeout ->
    assert(!ready && !locked);
#ifdef CLOSES
    assert(freed || gone[0] == STOPPED || gone[1] == STOPPED)
#else
    do
    :: k < tail ->
       assert(ended[k] || (k == held && gone[producer[connection]] == STOPPED));
       k++
    :: else -> break
    od
#endif
}

init {
    byte i;
    atomic {
        for (i : 0 .. PRODUCERS - 1) {
            run Producer(i);
            if
            :: i < MORTALS -> run Fate(i)
            :: else -> skip
            fi
        }
        run Poller();
        run Control();
#ifdef DEREGISTERS
        run Deregistration();
#endif
        run Check()
    }
}
