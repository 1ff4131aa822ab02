/* How the threads of a context that wait for completions are woken: armed queues, bells, and who sleeps at them.
 *
 * Producers in processes of their own push completions to queues of one context. The queues belong to channels, and threads
 * wait for the events of a channel at its bell: in the kernel, or for a message to the engine of the context. A producer
 * may die or stop for ever between any two of its steps. Other threads of the context may wake, interrupt or end a wait, or
 * give a channel another bell.
 *
 * The program does what programs do: it arms a queue, polls it until it is empty, and then waits for an event. After an
 * event it may also leave and never come back, and then the other threads have to get the next event.
 *
 * A step is what another thread or process can see. A loop around a compare-and-set is one step, because a failed one
 * changes nothing. So is what happens under a lock that all others need. Comments name the Java method that a part
 * stands for. `.ci/model` runs spin, as `./check --all` does.
 *
 * Checked when nothing moves any more:
 *   - no thread sleeps while its channel has an event, while one of its queues has a completion, or after it was woken,
 *     interrupted or closed;
 *   - no lock is held, and no message is unread.
 * After a second, the engine looks at the queues of all bells. The clock of the model stands still, so
 * nobody needs that second: only where a producer may die or stop does the clock tick, once, when nothing else moves.
 *
 * Left out: wait groups as places where threads wait (two channels with one bell stand for a group), channels without a
 * bell, threads that read the network or lead the engine while they wait, processes that write nonsense, and counts that
 * come round.
 *
 * What is to be checked:
 * -DWAITERS=n: waiter w waits at channel w % CHANNELS.         -DMESSAGE=m: a bit for each of them that is no kernel thread
 * -DQUEUES=n: queue q belongs to channel q % CHANNELS.         -DSHARED_BIT: they share one bit of the bell
 * -DPRODUCERS=n: producer p pushes to queue p % QUEUES.        -DEACH=n: how many completions each of them pushes
 * -DMORTALS=n: how many of the producers may die or stop.      -DCHANNELS=n: they share one bell, as in a group
 * -DEARLY=n: how many sleeps may end without a reason.         -DQUITS: a thread may leave after an event
 * -DINTERRUPT=w: waiter w is interrupted.                      -DWAKES, -DCLOSES: the wait at channel 0 is woken, or ended
 * -DARMS_TWICE: without a poll between, for solicited completions first. All completions are solicited.
 * -DINFORMS: channel 0 leaves its group. With CHANNELS=2, the bell of the group is given to channel 1 afterwards.
 *
 * Wrong rules, of which spin must find out:
 * -DSLEEPS_UNLOOKED: a waiter does not look at the bits after it has entered.
 * -DRINGS_LATE: a producer reads the word before it sets the bit.
 * -DENTERS_UNSEEN: to enter a bell does not change the count.
 * -DARMS_UNLOOKED: to arm does not end with a look.
 * -DARMS_UNCOUNTED: to arm again does not announce the event of the first time.
 * -DARMS_ONE_BELL: to arm does not end with a look at the bell of the channel.
 * -DINFORMS_NOBODY: a channel that changes its bell does not announce its queues.
 * -DCALL_FORGETS: a call clears the flag of those who wait for a message, although it wakes at most one of them.
 * -DLATE_BELL: all threads share one interruptible sleep, which learns of its bell when they sleep.
 * -DTRIES_ONCE: a producer gives up if another arming has replaced the one that it has read.
 * -DKEEPS_EVENT: a thread that is interrupted does not wake another one for the event that it was woken for.
 * -DSHORT_WAITS: nobody looks at all queues after a second.
 */

#ifndef WAITERS
#define WAITERS 1
#endif
#ifndef MESSAGE
#define MESSAGE 0
#endif
#ifndef QUEUES
#define QUEUES 1
#endif
#ifndef PRODUCERS
#define PRODUCERS QUEUES
#endif
#ifndef EACH
#define EACH 1
#endif
#ifndef CHANNELS
#define CHANNELS 1
#endif
#ifndef MORTALS
#define MORTALS 0
#endif
#ifndef EARLY
#define EARLY 0
#endif
#define BELLS 2

/* A process that has stopped does nothing more, as one that has died; but the engine learns only of a death. */
#define STOPPED 1
#define DIED 2
byte gone[PRODUCERS];
bool noticed[PRODUCERS];
/* Producers whose last completion nobody has polled, and that have not yet decided whether to ring for it. Nobody can
 * know of it if such a producer stops; if it dies, the engine announces the queue. */
bool undecided[PRODUCERS];

/* Bell. */
#define IN_KERNEL 1
#define FOR_MESSAGE 2
#define SLEEPERS 3
#define CHANGE 4
byte word[BELLS];
byte rung[BELLS];
byte inside[BELLS]; /* QueueBell.inside */
/* How many threads have read the word and will compare it. While there is none, the model forgets the count: so there are
 * fewer states, and no thread can tell. */
byte readers[BELLS];
#ifdef CALL_FORGETS
#define CALLED SLEEPERS
#else
#define CALLED IN_KERNEL
#endif
#ifdef SHARED_BIT
#define bitOf(q) 1
#else
#define bitOf(q) (1 << (q))
#endif

/* Completion queues. An armed word is the bell and which events. */
#define channelOf(q) ((q) % CHANNELS)
#define SOLICITED 1
#define ANY 2
#define armedWith(bell, events) ((bell) * 4 + (events))
#define bellNamed(word) ((word) / 4)
byte armed[QUEUES];
byte awaiting[QUEUES];
byte lookers[QUEUES]; /* who have read `awaiting`, as `readers` of a word */
byte pushed[QUEUES];
byte events[QUEUES]; /* in the queue of its channel */
byte member[QUEUES]; /* the bell whose looks find it */

/* Completion channels. */
bool locked[CHANNELS];
bool woken[CHANNELS];
bool closing[CHANNELS];
byte bellOf[CHANNELS];
bool taken; /* channel 1 has its bell */

/* Threads that wait. */
#define kindOf(w) ((MESSAGE >> (w)) & 1 -> FOR_MESSAGE : IN_KERNEL)
byte asleep[WAITERS]; /* in the kernel; the bell + 1 */
bool waiting[WAITERS]; /* for its condition */
bool ticked; /* a second has passed */
byte early;
bool begun; /* producers push after the first arming */

/* InterruptibleSleep. With a sleep that is closed, and another bell, there are three. */
#define SLEEPS 4
bool interrupted[WAITERS];
byte blocked[WAITERS]; /* the sleep that an interrupt closes, + 1 */
byte sleepOf[CHANNELS]; /* EventWait.sleep */
byte sleeps;
bool shut[SLEEPS];
byte place[SLEEPS]; /* the bell + 1 */

/* Messages to the engine: which bell has rung. */
chan mail = [4] of { byte };

hidden byte i;

inline readWord(bell) {
    copy = word[bell];
    readers[bell]++
}

inline forgetWord(bell) {
    copy = 0;
    readers[bell]--;
    if
    :: readers[bell] == 0 -> word[bell] = word[bell] & SLEEPERS
    :: else -> skip
    fi
}

/* Bell.call: `who` sleeps. */
inline call(bell, who) {
    d_step {
        who = word[bell] & SLEEPERS;
        if
        :: who & CALLED -> word[bell] = (word[bell] & ~CALLED) + (readers[bell] -> CHANGE : 0)
        :: else -> skip
        fi
    }
}

/* Futex.wake. */
inline wakeAll(bell) {
    d_step {
        for (i : 0 .. WAITERS - 1) {
            if
            :: asleep[i] == (bell) + 1 -> asleep[i] = 0
            :: else -> skip
            fi
        }
    }
}

/* QueueBell.wake. */
inline wake(bell) {
    call(bell, who);
    who = 0;
    if
    :: inside[bell] > 0 -> wakeAll(bell)
    :: else -> skip
    fi
}

#define waits(w, channel) (waiting[w] && (w) % CHANNELS == (channel))

/* Condition.signal. */
inline signal(channel) {
    if
    :: waits(0, channel) -> waiting[0] = false
#if WAITERS > 1
    :: waits(1, channel) -> waiting[1] = false
#endif
#if WAITERS > 2
    :: waits(2, channel) -> waiting[2] = false
#endif
    :: else -> skip
    fi
}

/* Condition.signalAll. */
inline signalAll(channel) {
    d_step {
        for (i : 0 .. WAITERS - 1) {
            if
            :: waits(i, channel) -> waiting[i] = false
            :: else -> skip
            fi
        }
    }
}

/* The part of SoftCompletionChannel.announce, EventWait.wakeUp and others that holds the lock. */
inline wakeAndUnlock(channel) {
    wake(bellOf[channel]);
    locked[channel] = false
}

#if QUEUES > 1
#define hasEvent(channel) ((channelOf(0) == channel && events[0]) || (channelOf(1) == channel && events[1]))
#else
#define hasEvent(channel) (channelOf(0) == channel && events[0])
#endif

/* SoftCompletionChannel.announce. */
inline announce(q) {
    atomic {
        !locked[channelOf(q)] ->
        locked[channelOf(q)] = true;
        events[q]++;
        signal(channelOf(q))
    }
    wakeAndUnlock(channelOf(q))
}

#define unheard(q) ((awaiting[q] & 1) && !armed[q])

inline forgetAwaiting(q) {
    seen = 0;
    lookers[q]--;
    if
    :: lookers[q] == 0 -> awaiting[q] = awaiting[q] & 1
    :: else -> skip
    fi
}

/* SoftCompletionQueue.announceIfDisarmed. */
inline announceIfDisarmed(q) {
    if
    :: atomic { unheard(q) -> seen = awaiting[q]; lookers[q]++ }
       if
       :: atomic { awaiting[q] == seen -> awaiting[q] = seen + 1; forgetAwaiting(q) }
          announce(q)
       :: atomic { awaiting[q] != seen -> forgetAwaiting(q) }
       fi
    :: atomic { !unheard(q) -> skip }
    fi
}

/* SoftCompletionQueue.announceToWaiter. */
inline announceToWaiter(q) {
    armed[q] = 0;
    announceIfDisarmed(q)
}

/* QueueBell.lookAt. */
inline lookAt(bell, q) {
    if
    :: !(bits & bitOf(q)) -> skip
    :: else ->
       if
       :: atomic { member[q] == bell -> skip }
          announceIfDisarmed(q)
       :: atomic { member[q] != bell -> skip }
       fi
    fi
}

inline lookAtBits(bell) {
    lookAt(bell, 0);
#if QUEUES > 1
    lookAt(bell, 1);
#endif
    bits = 0
}

/* QueueBell.look. */
inline look(bell) {
    atomic { bits = rung[bell]; rung[bell] = 0 }
    lookAtBits(bell)
}

/* SoftCompletionQueue.arm. */
inline arm(q, which) {
    b = bellOf[channelOf(q)];
    atomic {
        was = armed[q] != 0;
        armed[q] = armedWith(b, (armed[q] & 3) == ANY -> ANY : which)
    }
    atomic {
        again = (awaiting[q] & 1) && !was;
        awaiting[q] = (awaiting[q] | 1) + (lookers[q] -> 2 : 0);
        was = false
    }
#ifndef ARMS_UNCOUNTED
    if
    :: again -> announce(q)
    :: else -> skip
    fi;
#endif
    again = false;
#ifndef ARMS_UNLOOKED
    announceIfDisarmed(q);
#endif
#ifndef ARMS_ONE_BELL
    if
    :: atomic { b != bellOf[channelOf(q)] -> skip }
       announceToWaiter(q)
    :: atomic { b == bellOf[channelOf(q)] -> skip }
    fi;
#endif
    b = 0
}

/* SoftCompletionQueue.poll until there is nothing more. */
inline poll(q) {
    d_step {
        pushed[q] = 0;
        for (i : 0 .. PRODUCERS - 1) {
            if
            :: i % QUEUES == q -> undecided[i] = false
            :: else -> skip
            fi
        }
    }
}

#define myChannel (me % CHANNELS)
#define myQueue (me % QUEUES)

/* What the program does with the queues of a new channel. */
inline begin(q) {
    if
    :: channelOf(q) != myChannel -> skip
    :: else ->
#ifdef ARMS_TWICE
       arm(q, SOLICITED);
       begun = true;
       arm(q, ANY)
#else
       arm(q, ANY);
       poll(q)
#endif
    fi
}

#define has(q) (channelOf(q) == myChannel && events[q] > 0)
#if QUEUES > 1
#define hasNext (has(0) || has(1))
#else
#define hasNext has(0)
#endif

/* InterruptibleSleep.sleep before it sleeps; takes the sleep with the lock. */
inline beginInterruptible() {
#ifdef INTERRUPT
    atomic {
        mine = sleepOf[myChannel];
        if
#ifdef LATE_BELL
        :: shut[mine] ->
#else
        :: shut[mine] || place[mine] != b + 1 ->
#endif
           sleeps++;
           assert(sleeps < SLEEPS);
           mine = sleeps;
           sleepOf[myChannel] = mine;
#ifndef LATE_BELL
           place[mine] = b + 1
#endif
        :: else -> skip
        fi;
        locked[myChannel] = false
    }
#ifdef LATE_BELL
    place[mine] = b + 1;
#endif
    blocked[me] = mine + 1;
    if
    :: atomic { interrupted[me] && !shut[mine] -> shut[mine] = true }
       wake(place[mine] - 1)
    :: atomic { !(interrupted[me] && !shut[mine]) -> skip }
    fi
#else
    locked[myChannel] = false
#endif
}

inline endInterruptible() {
#ifdef INTERRUPT
    blocked[me] = 0;
    mine = 0
#else
    skip
#endif
}

/* A thread that waits for the events of its channel. */
proctype Waiter(byte me) {
    byte b, copy, bits, seen, who, mine;
    bool was, again;
#ifdef INFORMS
    myChannel == 0 || taken;
#endif
    if
    :: me < CHANNELS ->
       begin(0);
#if QUEUES > 1
       begin(1);
#endif
       skip
    :: else -> skip
    fi;

await: /* EventWait.await */
    b = bellOf[myChannel];
    look(b);

lock:
    atomic { !locked[myChannel] -> locked[myChannel] = true }

next:
    atomic {
        if
        :: hasNext ->
           woken[myChannel] = false;
           locked[myChannel] = false;
           if
           :: has(0) -> events[0]--; copy = 0
#if QUEUES > 1
           :: else -> events[1]--; copy = 1
#endif
           fi;
           b = 0;
           goto event
        :: !hasNext && (closing[myChannel] || woken[myChannel]) ->
           woken[myChannel] = false;
           locked[myChannel] = false;
           goto end
        :: else -> skip
        fi;
        goto enter
    }

enter: /* EventWait.awaitEvent */
    atomic {
        b = bellOf[myChannel];
        inside[b]++ /* QueueBell.enter */
    }
    atomic {
#ifdef ENTERS_UNSEEN
        word[b] = word[b] | kindOf(me);
#else
        word[b] = (word[b] | kindOf(me)) + (readers[b] -> CHANGE : 0);
#endif
        readWord(b)
    }
    if
#ifndef SLEEPS_UNLOOKED
    :: atomic { rung[b] != 0 -> forgetWord(b) }
       atomic { readWord(b) }
#endif
#ifdef SLEEPS_UNLOOKED
#define silent(bell) true
#else
#define silent(bell) (rung[bell] == 0)
#endif
    :: atomic { silent(b) && kindOf(me) == FOR_MESSAGE -> waiting[me] = true; locked[myChannel] = false; forgetWord(b) }
       if
       :: atomic { !waiting[me] && !locked[myChannel] -> locked[myChannel] = true; readWord(b) }
       :: atomic { waiting[me] && interrupted[me] && !locked[myChannel] ->
                   waiting[me] = false; locked[myChannel] = true; readWord(b) }
       fi
    :: atomic { silent(b) && kindOf(me) == IN_KERNEL -> skip }
       beginInterruptible();
       atomic {
           if
           :: word[b] == copy -> asleep[me] = b + 1
           :: else -> skip
           fi;
           forgetWord(b)
       }
       if
       :: atomic { asleep[me] == 0 -> skip }
#if EARLY > 0
       :: atomic { asleep[me] != 0 && early < EARLY -> early++; asleep[me] = 0 }
#endif
       fi;
       endInterruptible();
       atomic { !locked[myChannel] -> locked[myChannel] = true; readWord(b) }
    fi;
    /* QueueBell.leave; `copy` is the word that was read first. */
    atomic {
        inside[b]--;
        if
        :: inside[b] != 0 || !(copy & SLEEPERS) -> forgetWord(b); goto awake
        :: else -> skip
        fi
    }
    atomic {
        if
        :: word[b] == copy -> word[b] = word[b] & ~SLEEPERS
        :: else -> skip
        fi;
        forgetWord(b)
    }

awake:
    if
#ifndef KEEPS_EVENT
    :: atomic { interrupted[me] && (hasEvent(myChannel) || woken[myChannel]) -> signal(myChannel) }
       wakeAndUnlock(myChannel);
       goto end
    :: atomic { interrupted[me] && !hasEvent(myChannel) && !woken[myChannel] -> locked[myChannel] = false; goto end }
#else
    :: atomic { interrupted[me] -> locked[myChannel] = false; goto end }
#endif
    :: atomic { !interrupted[me] -> skip }
    fi;
    /* EventWait.lookUnlocked */
    if
    :: atomic { rung[b] != 0 -> locked[myChannel] = false }
       look(b);
       goto lock
    :: atomic { rung[b] == 0 -> goto next }
    fi;

event: /* The program handles the event of queue `copy`. */
    if
    :: copy == 0 ->
       copy = 0;
       arm(0, ANY);
       poll(0)
#if QUEUES > 1
    :: copy == 1 ->
       copy = 0;
       arm(1, ANY);
       poll(1)
#endif
    fi;
#ifdef QUITS
    if
    :: goto end
    :: goto await
    fi;
#else
    goto await;
#endif
end:
    skip
}

#define step(p) !gone[p]

/* A thread of another process. */
proctype Producer(byte me) {
    byte arming, who, count;
#ifdef INFORMS
#define mayBegin (channelOf(myQueue) == 0 || taken)
#elif defined(ARMS_TWICE)
#define mayBegin begun
#else
#define mayBegin true
#endif
    do
    :: count < EACH ->
       /* CompletionProducer.push */
       atomic { step(me) && mayBegin -> pushed[myQueue]++; undecided[me] = true; count++ }
       /* CompletionProducer.disarmFor */
       do
       :: atomic { step(me) && armed[myQueue] == 0 -> arming = 0; undecided[me] = false; break }
       :: atomic { step(me) && armed[myQueue] != 0 -> arming = armed[myQueue] }
          if
          :: atomic { step(me) && armed[myQueue] == arming -> armed[myQueue] = 0; undecided[me] = false; break }
          :: atomic { step(me) && armed[myQueue] != arming -> arming = 0;
#ifdef TRIES_ONCE
                      undecided[me] = false; break
#endif
             }
          fi
       od;
       if
       :: arming == 0 -> skip
       :: else ->
          /* ShmPeer.ring */
          arming = bellNamed(arming);
#ifdef RINGS_LATE
          atomic { step(me) -> call(arming, who) }
          atomic { step(me) -> rung[arming] = rung[arming] | bitOf(myQueue) }
#else
          atomic { step(me) -> rung[arming] = rung[arming] | bitOf(myQueue) }
          atomic { step(me) -> call(arming, who) }
#endif
          if
          :: who & IN_KERNEL -> atomic { step(me) -> wakeAll(arming) }
          :: else -> skip
          fi;
          if
          :: who & FOR_MESSAGE -> atomic { step(me) -> mail ! arming }
          :: else -> skip
          fi;
          who = 0;
          arming = 0
       fi
    :: else -> break
    od
}

/* Who kills and stops processes. */
proctype Fate(byte who) {
    if
    :: gone[who] = STOPPED
    :: gone[who] = DIED
    :: skip
    fi
}

#define dead(p) (gone[p] == DIED && !noticed[p])

/* The engine of the context. */
proctype Engine() {
    byte b, bits, seen, who;
    do
    :: atomic { mail ? b -> skip } /* Bells.rung */
       wake(b);
       look(b);
       b = 0
#if MORTALS > 0
    /* Bells.onTime */
    :: atomic { timeout && !ticked -> ticked = true }
#ifndef SHORT_WAITS
       bits = 3;
       lookAtBits(0);
       bits = 3;
       lookAtBits(1)
#endif
    /* ContextObjects.onPeerParted */
    :: atomic { dead(0) -> noticed[0] = true }
       announceToWaiter(0)
#if QUEUES > 1
       ;
       announceToWaiter(1)
#endif
#endif
    od
}

#ifdef WAKES
/* EventWait.wakeUp. */
proctype Waker() {
    byte who;
    atomic { !locked[0] -> locked[0] = true; woken[0] = true; signal(0) }
    wakeAndUnlock(0)
}
#endif

#ifdef CLOSES
/* EventWait.closing. */
proctype Closer() {
    byte who;
    atomic { !locked[0] -> locked[0] = true; closing[0] = true; signalAll(0) }
    wakeAndUnlock(0)
}
#endif

#ifdef INTERRUPT
/* Thread.interrupt. */
proctype Interrupter() {
    byte who, mine;
    atomic { interrupted[INTERRUPT] = true; mine = blocked[INTERRUPT] }
    if
    :: mine == 0 -> skip
    :: else ->
       mine--;
       if
       :: atomic { !shut[mine] -> shut[mine] = true }
          wake(place[mine] - 1) /* InterruptibleSleep.implCloseChannel */
       :: atomic { shut[mine] -> skip }
       fi
    fi
}
#endif

#ifdef INFORMS
/* SoftCompletionChannel.leave; bell 1 is that of the group, and bell 0 its own. */
proctype Leaver() {
    byte seen, who;
    /* inform */
    atomic { !locked[0] -> locked[0] = true; member[0] = 0 }
#if QUEUES > 1 && CHANNELS == 1
    member[1] = 0;
#endif
    atomic { bellOf[0] = 0; locked[0] = false }
    /* EventWait.bellChanged */
    atomic { !locked[0] -> locked[0] = true; signalAll(0) }
    wakeAndUnlock(0);
    wake(1);
#ifndef INFORMS_NOBODY
    announceToWaiter(0);
#if QUEUES > 1 && CHANNELS == 1
    announceToWaiter(1);
#endif
#endif
    /* The group is closed, and channel 1 is made: Bells.giveBack and take. */
    taken = true
}
#endif

/* When nothing else moves. */
proctype Clock() {
    byte w, q, p, lost;
    atomic {
#if MORTALS > 0
        timeout && ticked ->
#else
        timeout ->
#endif
        assert(len(mail) == 0);
        for (q : 0 .. CHANNELS - 1) {
            assert(!locked[q])
        }
        for (w : 0 .. WAITERS - 1) {
            if
            :: asleep[w] != 0 || waiting[w] ->
               assert(!interrupted[w]);
               assert(!woken[w % CHANNELS]);
               assert(!closing[w % CHANNELS]);
               for (q : 0 .. QUEUES - 1) {
                   lost = 0;
                   for (p : 0 .. PRODUCERS - 1) {
                       if
                       :: p % QUEUES == q && gone[p] == STOPPED && undecided[p] -> lost++
                       :: else -> skip
                       fi
                   }
                   assert(channelOf(q) != w % CHANNELS || events[q] == 0);
                   assert(channelOf(q) != w % CHANNELS || pushed[q] <= lost)
               }
            :: else -> skip
            fi
        }
    }
}

init {
    byte n;
    atomic {
#ifdef INFORMS
        for (n : 0 .. QUEUES - 1) {
            member[n] = 1
        }
        for (n : 0 .. CHANNELS - 1) {
            bellOf[n] = 1
        }
#endif
        for (n : 0 .. WAITERS - 1) {
            run Waiter(n)
        }
        for (n : 0 .. PRODUCERS - 1) {
            run Producer(n);
            if
            :: n < MORTALS -> run Fate(n)
            :: else -> skip
            fi
        }
        run Engine();
#ifdef WAKES
        run Waker();
#endif
#ifdef CLOSES
        run Closer();
#endif
#ifdef INTERRUPT
        run Interrupter();
#endif
#ifdef INFORMS
        run Leaver();
#endif
        run Clock();
        n = 0
    }
}
