package io.rdmacomm.tests.steps;

import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Work;
import java.util.List;

/// What the doomed process does, step by step, while the survivor has receives posted and requests in flight.
enum Deed {
    /// It sends two messages.
    SEND {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.source()), Work.send(2, scene.source()));
        }
    },
    /// It sends a message from two places, which needs a work request in memory.
    SEND_GATHERED {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.firstHalf(), scene.secondHalf()));
        }
    },
    /// It sends to a queue pair that takes its receives from a shared receive queue.
    SEND_TO_SHARED_RECEIVES(Trait.SHARED_RECEIVES) {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.source()));
        }
    },
    /// It sends to a queue pair whose shared receive queue grows meanwhile.
    SEND_TO_GROWING_RECEIVES(Trait.SHARED_RECEIVES) {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.source()), Work.send(2, scene.source()));
        }

        @Override
        void meanwhile(Scene scene) {
            scene.growReceives();
        }
    },
    /// It sends into memory that only the survivor can access.
    SEND_TO_REGISTERED_MEMORY(Trait.REGISTERED_HERE) {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.source()));
        }
    },
    /// It sends while the survivor resizes the completion queue.
    SEND_WHILE_RESIZED {
        @Override
        void act(Scene scene) {
            scene.post(Work.send(1, scene.source()));
        }

        @Override
        void meanwhile(Scene scene) {
            scene.resize();
        }
    },
    /// It writes.
    WRITE {
        @Override
        void act(Scene scene) {
            scene.post(Work.write(1, scene.target(), scene.source()));
        }
    },
    /// It writes with immediate data.
    WRITE_WITH_IMMEDIATE {
        @Override
        void act(Scene scene) {
            scene.post(Work.writeImmediate(1, scene.target(), 7, scene.source()));
        }
    },
    /// It reads.
    READ {
        @Override
        void act(Scene scene) {
            scene.post(Work.read(1, scene.readable(), scene.sink()));
        }
    },
    /// It adds to a number of the survivor.
    FETCH_AND_ADD {
        @Override
        void act(Scene scene) {
            scene.post(Work.fetchAndAdd(1, scene.number(), 1, scene.result()));
        }
    },
    /// It writes, reads and adds in memory that only the survivor can access.
    ACCESS_REGISTERED_MEMORY(Trait.REGISTERED_HERE) {
        @Override
        void act(Scene scene) {
            scene.post(
                    Work.write(1, scene.target(), scene.source()),
                    Work.read(2, scene.readable(), scene.sink()),
                    Work.fetchAndAdd(3, scene.number(), 1, scene.result()));
        }
    },
    /// It posts receives for messages that wait for them, arms its completion queue, and takes them.
    RECEIVE {
        @Override
        void act(Scene scene) {
            EndQueue there = scene.there();
            there.arm();
            there.receive(1, scene.sink());
            there.collect(1, Scene.CHILD_MILLIS);
            there.armSolicited();
            there.receive(2, scene.sink());
            there.collect(1, Scene.CHILD_MILLIS);
        }

        @Override
        List<Work> traffic(Scene scene) {
            return scene.sends(2);
        }
    },
    /// It resizes its completion queue while messages arrive.
    RESIZE {
        @Override
        void prepare(Scene scene) {
            for (int i = 0; i < 4; i++) {
                scene.there().receive(i, scene.sink());
            }
        }

        @Override
        void act(Scene scene) {
            scene.there().resize(8);
            scene.there().collect(2, Scene.CHILD_MILLIS);
            scene.there().resize(4);
            scene.there().collect(2, Scene.CHILD_MILLIS);
        }

        @Override
        List<Work> traffic(Scene scene) {
            return scene.sends(4);
        }
    },
    /// It carries out requests of the survivor, by itself where it must.
    SERVE {
        @Override
        void act(Scene scene) {
            scene.there().collect(1, Scene.CHILD_MILLIS);
        }

        @Override
        void prepare(Scene scene) {
            scene.there().receive(1, scene.sink());
        }

        @Override
        List<Work> traffic(Scene scene) {
            return scene.everything();
        }
    },
    /// The same in memory that only it can access.
    SERVE_REGISTERED_MEMORY(Trait.REGISTERED_THERE) {
        @Override
        void act(Scene scene) {
            SERVE.act(scene);
        }

        @Override
        void prepare(Scene scene) {
            SERVE.prepare(scene);
        }

        @Override
        List<Work> traffic(Scene scene) {
            return scene.everything();
        }
    },
    /// It connects its queue pair; requests of the survivor wait for that.
    CONNECT(Trait.UNCONNECTED) {
        @Override
        void act(Scene scene) {
            scene.connectThere();
            // Without a receive, the message would be refused and repeated, many steps each time.
            scene.there().receive(1, scene.sink());
            scene.there().collect(1, Scene.CHILD_MILLIS);
        }

        @Override
        void prepare(Scene scene) {}

        @Override
        List<Work> traffic(Scene scene) {
            return scene.everything();
        }
    },
    /// It closes what the survivor is working with.
    CLOSE {
        @Override
        void prepare(Scene scene) {
            scene.there().receive(1, scene.sink());
        }

        @Override
        void act(Scene scene) {
            scene.there().close();
            scene.theirs().close();
        }

        @Override
        List<Work> traffic(Scene scene) {
            return scene.everything();
        }
    };

    /// How its ends differ from the usual ones.
    enum Trait {
        NONE,
        SHARED_RECEIVES,
        REGISTERED_HERE,
        REGISTERED_THERE,
        UNCONNECTED
    }

    private final Trait trait;

    Deed() {
        this(Trait.NONE);
    }

    Deed(Trait trait) {
        this.trait = trait;
    }

    boolean has(Trait which) {
        return trait == which;
    }

    /// What the process does before its steps count.
    void prepare(Scene scene) {}

    /// What it does then; every call may be its last.
    abstract void act(Scene scene);

    /// What the survivor posts meanwhile.
    List<Work> traffic(Scene scene) {
        return List.of();
    }

    /// What the survivor does besides, again and again.
    void meanwhile(Scene scene) {}
}
