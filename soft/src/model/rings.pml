/* The protocol between processes that share rings: claims, journals, death, and the end of a connection.
 *
 * Two producers in processes of their own deliver messages to two queue pairs of one consumer, which complete in one
 * completion ring. A producer may be stopped between any two of its stores and go on much later, or die there. The
 * connection between it and the consumer may end while it lives. The consumer may fail a queue pair at any time, and
 * closes both in the end, which frees the ring for others.
 *
 * A step is what another process can see: a store, or a compare-and-set with the load that it depends on. Comments name
 * the Java method that a part stands for. `.ci/model` runs spin, as `./check --all` does.
 *
 * Checked in every state:
 *   - no receive ends twice, nothing ends that was not posted;
 *   - the completion ring never breaks (a word that no correct process writes);
 *   - nobody writes into a ring that was freed;
 * and when nothing moves any more:
 *   - every receive has ended, whatever happened to the processes.
 *
 * Left out: shared receive queues, payloads that the owner copies, and wake-ups.
 *
 * -DGONE_IS_DEAD restores the rule that the end of a connection is the death of the process: spin finds a receive that
 * ends twice.
 * -DFREE_AT_ONCE restores the rule that a closed ring is free when the wait for the peer has failed: spin finds a
 * store into it.
 */

#define PRODUCERS 2
#define OWNER 2 /* as the one who claims: flushed receives are completed by the consumer itself */
#define SLOTS 4
#define RINGS 3
#define CELLS 12 /* SLOTS * RINGS */
/* How many processes may die and lose their connection; all may be stopped. With two and more than two receives there are
 * so many states that spin needs more than 8 GB. */
#ifndef MORTALS
#define MORTALS 1
#endif
/* Receives that are posted in all: the first is that of producer 0. With 4, slots are used again. */
#ifndef RECEIVES
#define RECEIVES 3
#endif
#define NONE 255

/* The first receive is for producer 0, the others are for producer 1, one at a time. */
#define first(q) ((q) == 0 -> 0 : 1)

/* A process that is stopped is one that does not get its turn for as long as it likes: nobody can tell the two apart. */
bool died[PRODUCERS];
bool parted[PRODUCERS]; /* the connection has ended */

/* Of a slot (CompletionSlots). */
#define FREE 0
#define CLAIMED 1
#define FULL 2
#define SEALED 3
#define VOID 4
typedef Slot {
    byte position;
    byte kind;
    byte by;
    byte body
};
Slot slot[CELLS];
byte ringTail[RINGS];
byte newest; /* QUEUE_RING */
bool freed;
bool broken;

/* Of a queue pair, in the consumer's file. */
bool ready[PRODUCERS]; /* QP_IDENTITY */
byte head[PRODUCERS]; /* of its ReceiveRing */
byte tail[PRODUCERS];

/* Of the producer's queue pair, in the producer's file. */
bit executing[PRODUCERS];
byte operation[PRODUCERS]; /* with `executing` the counter QP_EXECUTING */
byte journalReceive[PRODUCERS]; /* NONE if it is closed */
byte journalSlot[PRODUCERS]; /* NONE if it has none */

byte ended[RECEIVES];

#define cell(r, p) ((r) * SLOTS + (p) % SLOTS)

/* One store of process p, which may be stopped or dead before it. */
#define step(p) !died[p]

#define turn(who) (who == OWNER || !died[who % PRODUCERS])

/* CompletionProducer.push. `who` is a producer, or OWNER. The body is stored with the word that makes it visible. */
inline push(who, receive) {
    do
    :: atomic { turn(who) -> r = newest }
       atomic {
           turn(who) ->
           t = ringTail[r];
           c = cell(r, t);
           if
           :: slot[c].position == t && slot[c].kind == FREE ->
              assert(!freed);
              slot[c].kind = CLAIMED;
              slot[c].by = who;
              break
           :: slot[c].position == t && slot[c].kind == SEALED ->
              assert(newest != r)
           :: (slot[c].position == t && slot[c].kind != FREE && slot[c].kind != SEALED) || slot[c].position > t ->
              ringTail[r] = t + 1 /* CompletionSlots.helpTail */
           :: slot[c].position < t ->
              assert(newest != r) /* else it would overrun, but there are more slots than receives */
           fi
       }
    od;
    atomic { turn(who) -> ringTail[r] = t + 1 }
    if
    :: who != OWNER -> atomic { turn(who) -> journalSlot[who % PRODUCERS] = t }
    :: else -> skip
    fi;
    atomic {
        turn(who) ->
        assert(!freed);
        slot[c].body = receive;
        slot[c].position = t;
        slot[c].kind = FULL;
        slot[c].by = 0;
        r = 0; t = 0; c = 0
    }
}

/* A process with one queue pair. */
proctype Producer(byte me) {
    byte r, t, c, p;
    do
    :: atomic { step(me) -> executing[me] = 1; operation[me]++ } /* QueuePairBlock.beginExecuting */
       if
       :: atomic { step(me) && ready[me] && !parted[me] -> p = head[me] } /* PeerQueuePair.isReady, oldestReceive */
       :: atomic { step(me) && !(ready[me] && !parted[me]) -> break }
       fi;
       if
       :: atomic { step(me) && p < tail[me] -> journalSlot[me] = NONE; journalReceive[me] = p } /* openJournal */
          if /* ReceiveTaker.take */
          :: atomic { step(me) && head[me] == p -> head[me] = p + 1 }
             push(me, p);
          :: atomic { step(me) && head[me] != p -> skip }
          fi;
          atomic { step(me) -> journalReceive[me] = NONE } /* QueuePairBlock.closeJournal */
       :: atomic { step(me) && p >= tail[me] -> skip } /* receiver not ready: a retry */
       fi;
       atomic { step(me) -> executing[me] = 0; p = 0 } /* QueuePairBlock.endExecuting */
       if /* the retry waits for another receive */
       :: atomic { step(me) && (head[me] < tail[me] || !ready[me] || parted[me]) -> skip }
       fi
    od;
    atomic { step(me) -> executing[me] = 0 }
}

/* Who kills processes and ends connections. The end of a process ends its connection. */
proctype Fate(byte who) {
    if
    :: parted[who] = true
    :: skip
    fi;
    if
    :: atomic { died[who] = true; parted[who] = true }
    :: skip
    fi
}

/* The owner of the queue pairs and of the completion queue. */
bool failed[PRODUCERS]; /* the state is ERROR */
bool unfinished[PRODUCERS]; /* ShmTransport.unfinished */
byte unfinishedAt[PRODUCERS];
bool settled[PRODUCERS]; /* the death of the peer was dealt with */
byte takenBack[PRODUCERS]; /* ReceiveRing.takenBack */
bool passable[CELLS]; /* CompletionRing.stuck */
byte passablePosition[CELLS];
bool passed[CELLS]; /* CompletionRing.passed */
byte passedPosition[CELLS];
byte current; /* the ring that is polled */
byte at; /* its head */
#ifdef CLOSES /* the consumer closes its objects as soon as it can; else it goes on polling */
#define closes true
#else
#define closes false
#endif
bool closing;
bool done; /* it has closed them, and the pending frees are done */

inline end(receive) {
    assert(receive < RECEIVES);
    ended[receive]++;
    assert(ended[receive] == 1);
    if /* the program posts another receive */
    :: receive > 0 && tail[1] < RECEIVES && !failed[1] -> tail[1]++
    :: else -> skip
    fi
}

/* QueuePairBlock.awaitIdle and isPeerIdle: whether the operation that was seen has ended. */
#define idle(q) (!unfinished[q] || !executing[q] || operation[q] != unfinishedAt[q] || died[q])

#ifdef GONE_IS_DEAD
#define dead(q) parted[q]
#else
#define dead(q) (died[q]) /* ShmPeer.isGone: the lock of its folder is free */
#endif

/* ShmTransport.endTakenReceive; `gave` is the receive that is flushed first, see ReceiveQueue.giveBack. */
inline endTakenReceive(q) {
    gave = NONE;
    if
    :: atomic {
           journalReceive[q] != NONE && journalReceive[q] < takenBack[q] && head[q] > journalReceive[q] ->
           p = journalReceive[q];
           t = journalSlot[q]
       }
       if
       :: atomic { journalReceive[q] == p -> journalReceive[q] = NONE } /* QueuePairBlock.takeBack */
          if
          :: t == NONE -> gave = p
          :: else -> /* CompletionRing.fillClaim */
             atomic {
                 r = 0;
                 do
                 :: r < RINGS ->
                    c = cell(r, t);
                    if
                    :: slot[c].position == t && slot[c].kind == CLAIMED && slot[c].by == q ->
                       slot[c].body = p;
                       slot[c].kind = FULL;
                       break
                    :: else -> r++
                    fi
                 :: else -> break
                 od
             }
          fi
       :: atomic { journalReceive[q] != p -> skip }
       fi
    :: atomic {
           !(journalReceive[q] != NONE && journalReceive[q] < takenBack[q] && head[q] > journalReceive[q]) -> skip
       }
    fi
}

/* ReceiveQueue.flush: the receive that came back, then those that nobody took. */
inline flush(q) {
    if
    :: gave != NONE -> atomic { push(OWNER, gave); gave = NONE }
    :: else -> skip
    fi;
    do
    :: atomic {
           head[q] < tail[q] -> /* ReceiveRing.take */
           p = head[q];
           head[q] = p + 1;
           takenBack[q] = (takenBack[q] < p -> takenBack[q] : p)
       }
       push(OWNER, p)
    :: atomic { head[q] >= tail[q] -> break }
    od
}

/* CompletionRing.passClaims. */
inline passClaims(q) {
    atomic {
        c = 0;
        do
        :: c < CELLS ->
           if
           :: slot[c].kind == CLAIMED && slot[c].by == q ->
              passable[c] = true;
              passablePosition[c] = slot[c].position
           :: else -> skip
           fi;
           c++
        :: else -> break
        od
    }
}

/* CompletionRing.skipClaims. */
inline skipClaims(q) {
    atomic {
        c = 0;
        do
        :: c < CELLS ->
           if
           :: slot[c].kind == CLAIMED && slot[c].by == q -> slot[c].kind = VOID; slot[c].by = 0
           :: else -> skip
           fi;
           c++
        :: else -> break
        od
    }
}

/* SoftQueuePair.fail, with ShmTransport.stop. */
inline fail(q) {
    atomic {
        failed[q] = true;
        ready[q] = false
    }
    atomic {
        if
        :: executing[q] && !died[q] -> unfinished[q] = true; unfinishedAt[q] = operation[q]
        :: else -> skip
        fi
    }
    if /* the wait ends when the peer has finished, or after a while */
    :: atomic { idle(q) -> unfinished[q] = false }
       endTakenReceive(q)
    :: atomic { !idle(q) -> gave = NONE }
       passClaims(q)
    fi;
    flush(q);
    p = 0; t = 0; c = 0; r = 0
}

/* CompletionRing.resize. */
inline replace() {
    assert(newest + 1 < RINGS);
    newest++;
    do /* seal */
    :: atomic {
           t = ringTail[newest - 1];
           c = cell(newest - 1, t);
           if
           :: slot[c].position == t && slot[c].kind == FREE -> slot[c].kind = SEALED; break
           :: slot[c].position == t && slot[c].kind != FREE -> ringTail[newest - 1] = t + 1
           :: slot[c].position > t -> ringTail[newest - 1] = t + 1
           :: slot[c].position < t -> break /* full: each slot is sealed when it is emptied */
           fi
       }
    od
}

/* CompletionRing.poll, one slot. */
inline poll() {
    /* pollPassed */
    atomic {
        c = 0;
        do
        :: c < CELLS ->
           if
           :: passed[c] && slot[c].kind != CLAIMED ->
              if
              :: slot[c].kind == FULL && slot[c].position == passedPosition[c] -> end(slot[c].body)
              :: else -> skip
              fi;
              slot[c].kind = SEALED;
              slot[c].position = passedPosition[c] + SLOTS;
              passed[c] = false;
              skip
           :: else -> skip
           fi;
           c++
        :: else -> break
        od
    }
    c = cell(current, at);
    if
    :: slot[c].position == at && slot[c].kind == FULL ->
       atomic {
           end(slot[c].body);
           slot[c].position = at + SLOTS;
           slot[c].kind = (newest > current -> SEALED : FREE);
           at++;
           skip
       }
    :: slot[c].position == at && slot[c].kind == VOID ->
       atomic {
           slot[c].position = at + SLOTS;
           slot[c].kind = (newest > current -> SEALED : FREE);
           at++;
           skip
       }
    :: slot[c].position == at && slot[c].kind == SEALED ->
       assert(newest > current);
       current++;
       at = 0;
       skip
    :: slot[c].position == at && slot[c].kind == CLAIMED && passable[c] && passablePosition[c] == at ->
       if
       :: newest == current -> replace()
       :: else -> skip
       fi;
       c = cell(current, at);
       passed[c] = true;
       passedPosition[c] = at;
       at++;
       skip
    :: slot[c].position == at && (slot[c].kind == FREE || (slot[c].kind == CLAIMED && !(passable[c] && passablePosition[c] == at))) ->
       skip
    :: slot[c].position != at ->
       if /* the seal of a ring that was full would be here */
       :: passed[c] && slot[c].kind == CLAIMED && newest > current -> current++; at = 0
       :: else -> broken = true; assert(!broken)
       fi
    fi
}

/* SharedMemory.onPeerParted, and DisconnectedPeers.hasEnded when the peer has died. */
inline notice(q) {
    if
    :: !failed[q] -> fail(q)
    :: else -> skip
    fi;
    if
    :: dead(q) && !settled[q] ->
       settled[q] = true;
       /* ShmTransport.peerDied */
       endTakenReceive(q);
       unfinished[q] = false;
       flush(q);
       skipClaims(q)
    :: else -> skip
    fi
}

/* Whether a poll would do anything. */
#define head_is(k) (slot[cell(current, at)].kind == k)
#define pollable (slot[cell(current, at)].position != at || head_is(FULL) || head_is(VOID) || head_is(SEALED) \
    || (head_is(CLAIMED) && passable[cell(current, at)] && passablePosition[cell(current, at)] == at))
#define late(c) (passed[c] && slot[c].kind != CLAIMED)
#define anyLate (late(0) || late(1) || late(2) || late(3) || late(4) || late(5) || late(6) || late(7) \
    || late(8) || late(9) || late(10) || late(11))

proctype Consumer() {
    byte r, t, c, p, gave;
    do
    :: !closing && (pollable || anyLate) -> poll()
    :: !closing && !failed[0] -> fail(0)
    :: !closing && !failed[1] -> fail(1)
    :: !closing && parted[0] && (!failed[0] || (dead(0) && !settled[0])) -> notice(0)
    :: !closing && parted[1] && (!failed[1] || (dead(1) && !settled[1])) -> notice(1)
    :: closes && !closing && failed[0] && failed[1] -> closing = true
    :: closing && !done ->
#ifndef FREE_AT_ONCE
       /* PendingFrees.freeReleased */
       idle(0) && idle(1);
#endif
       freed = true;
       done = true
    od
}

/* When nothing moves any more. */
proctype Check() {
    byte receive;
    timeout ->
    assert(!closes || done);
    do
    :: receive < RECEIVES ->
       assert(closes || receive >= tail[1] || ended[receive] == 1);
       receive++
    :: else -> break
    od
}

init {
    byte i;
    atomic {
        do
        :: i < CELLS -> slot[i].position = i % SLOTS; i++
        :: else -> break
        od;
        for (i : 0 .. PRODUCERS - 1) {
            ready[i] = true;
            head[i] = first(i);
            tail[i] = first(i) + 1;
            takenBack[i] = NONE;
            journalReceive[i] = NONE;
            journalSlot[i] = NONE;
            run Producer(i);
            if
            :: i < MORTALS -> run Fate(i)
            :: else -> skip
            fi
        }
        run Consumer();
        run Check()
    }
}
