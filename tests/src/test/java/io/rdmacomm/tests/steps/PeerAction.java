package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Work;
import java.util.List;

/// What the doomed process does, step by step, while the survivor has receives posted and requests in flight.
enum PeerAction {
    /// It sends two messages.
    SEND {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()), Work.send(2, pair.source()));
        }
    },
    /// It sends two messages that are so short that they arrive in the lines of their receives.
    SEND_SHORT(Trait.SHORT) {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()), Work.send(2, pair.source()));
        }
    },
    /// It sends a message from two places, which needs a work request in memory.
    SEND_GATHERED {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.firstHalf(), pair.secondHalf()));
        }
    },
    /// It sends to a queue pair that takes its receives from a shared receive queue.
    SEND_TO_SHARED_RECEIVES(Trait.SHARED_RECEIVES) {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()));
        }
    },
    /// It sends to a queue pair whose shared receive queue grows meanwhile.
    SEND_TO_GROWING_RECEIVES(Trait.SHARED_RECEIVES) {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()), Work.send(2, pair.source()));
        }

        @Override
        void meanwhile(StepPair pair) {
            pair.growReceives();
        }
    },
    /// It sends into memory that only the survivor can access.
    SEND_TO_REGISTERED_MEMORY(Trait.REGISTERED_HERE) {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()));
        }
    },
    /// It sends while the survivor resizes the completion queue.
    SEND_WHILE_RESIZED {
        @Override
        void act(StepPair pair) {
            pair.post(Work.send(1, pair.source()));
        }

        @Override
        void meanwhile(StepPair pair) {
            pair.resize();
        }
    },
    /// It writes.
    WRITE {
        @Override
        void act(StepPair pair) {
            pair.post(Work.write(1, pair.target(), pair.source()));
        }
    },
    /// It writes with immediate data.
    WRITE_WITH_IMMEDIATE {
        @Override
        void act(StepPair pair) {
            pair.post(Work.writeImmediate(1, pair.target(), 7, pair.source()));
        }
    },
    /// It reads.
    READ {
        @Override
        void act(StepPair pair) {
            pair.post(Work.read(1, pair.readable(), pair.sink()));
        }
    },
    /// It adds to a number of the survivor.
    FETCH_AND_ADD {
        @Override
        void act(StepPair pair) {
            pair.post(Work.fetchAndAdd(1, pair.number(), 1, pair.result()));
        }
    },
    /// It writes, reads and adds in memory that only the survivor can access.
    ACCESS_REGISTERED_MEMORY(Trait.REGISTERED_HERE) {
        @Override
        void act(StepPair pair) {
            pair.post(
                    Work.write(1, pair.target(), pair.source()),
                    Work.read(2, pair.readable(), pair.sink()),
                    Work.fetchAndAdd(3, pair.number(), 1, pair.result()));
        }
    },
    /// It posts receives for messages that wait for them, arms its completion queue, and takes them.
    RECEIVE {
        @Override
        void act(StepPair pair) {
            EndQueue there = pair.there();
            there.arm();
            there.receive(1, pair.sink());
            there.collect(1, StepPair.CHILD_MILLIS);
            there.armSolicited();
            there.receive(2, pair.sink());
            there.collect(1, StepPair.CHILD_MILLIS);
        }

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.sends(2);
        }
    },
    /// It resizes its completion queue while messages arrive.
    RESIZE {
        @Override
        void prepare(StepPair pair) {
            for (int i = 0; i < 4; i++) {
                pair.there().receive(i, pair.sink());
            }
        }

        @Override
        void act(StepPair pair) {
            pair.there().resize(8);
            pair.there().collect(2, StepPair.CHILD_MILLIS);
            pair.there().resize(4);
            pair.there().collect(2, StepPair.CHILD_MILLIS);
        }

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.sends(4);
        }
    },
    /// It carries out requests of the survivor, by itself where it must.
    SERVE {
        @Override
        void act(StepPair pair) {
            pair.there().collect(1, StepPair.CHILD_MILLIS);
        }

        @Override
        void prepare(StepPair pair) {
            pair.there().receive(1, pair.sink());
        }

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.everything();
        }
    },
    /// The same in memory that only it can access.
    SERVE_REGISTERED_MEMORY(Trait.REGISTERED_THERE) {
        @Override
        void act(StepPair pair) {
            SERVE.act(pair);
        }

        @Override
        void prepare(StepPair pair) {
            SERVE.prepare(pair);
        }

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.everything();
        }
    },
    /// It connects its queue pair; requests of the survivor wait for that.
    CONNECT(Trait.UNCONNECTED) {
        @Override
        void act(StepPair pair) {
            pair.connectThere();
            // Without a receive, the message would be refused and repeated, many steps each time.
            pair.there().receive(1, pair.sink());
            pair.there().collect(1, StepPair.CHILD_MILLIS);
        }

        @Override
        void prepare(StepPair pair) {}

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.everything();
        }
    },
    /// It closes what the survivor is working with.
    CLOSE {
        @Override
        void prepare(StepPair pair) {
            pair.there().receive(1, pair.sink());
        }

        @Override
        void act(StepPair pair) {
            pair.there().close();
            pair.theirs().close();
        }

        @Override
        List<Work> traffic(StepPair pair) {
            return pair.everything();
        }
    };

    /// How its ends differ from the usual ones.
    enum Trait {
        NONE,
        SHARED_RECEIVES,
        REGISTERED_HERE,
        REGISTERED_THERE,
        UNCONNECTED,
        SHORT
    }

    private final Trait trait;

    PeerAction() {
        this(Trait.NONE);
    }

    PeerAction(Trait trait) {
        this.trait = trait;
    }

    boolean has(Trait which) {
        return trait == which;
    }

    /// What the process does before its steps count.
    void prepare(StepPair pair) {}

    /// What it does then; every call may be its last.
    abstract void act(StepPair pair);

    /// What the survivor posts meanwhile.
    List<Work> traffic(StepPair pair) {
        return List.of();
    }

    /// What the survivor does besides, again and again.
    void meanwhile(StepPair pair) {}
}
