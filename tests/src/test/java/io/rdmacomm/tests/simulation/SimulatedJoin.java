package io.rdmacomm.tests.simulation;

import io.rdmacomm.comm.mesh.SimulatedRendezvous;
import java.util.Arrays;
import java.util.BitSet;
import java.util.PrimitiveIterator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.stream.IntStream;

/// The nodes of a mesh that join: they register at the rendezvous on node 0, and connect in the order
/// of the library. Discrete events: each node takes one step after the other, and a step begins when
/// the message that it needs has arrived and the processor of its node is free. A node has one
/// processor.
final class SimulatedJoin implements SimulatedRendezvous.Answers {
    private final int size;
    private final JoinCosts costs;
    private final boolean opposite;
    private final SimulatedRendezvous rendezvous;
    private final Queue<Visit> events = new PriorityQueue<>();
    private final Visit[] visits;
    private final double[] processorFree;
    private final double[] linkFree;
    private final double[] tableAt;
    private final int[] connections;
    private final int[] waiting;
    private final int[] settingUp;
    private final BitSet[] connected;
    private boolean onlyMeets;
    private double now;
    private int unknown;
    private int atRendezvous;
    private int nodesReady;
    private long order;

    private double end = -1;
    private double tablesEnd;
    private int tableBytes;
    private long dropped;
    private long refused;
    private long closed;
    private int mostSettingUp;
    private double longestStep;

    /// The results.
    ///
    /// @param seconds until all nodes are connected with each other
    /// @param tableSeconds until all nodes have the table
    /// @param tableBytes the length of the table
    /// @param connections of all nodes together
    /// @param dropped TCP connections that found no room, and were tried again by TCP
    /// @param refused connections that a session refused because it was setting up too many
    /// @param closed connections that the rendezvous closed because too many had not registered yet
    /// @param mostSettingUp the most connections that one node was setting up as a server at a time
    /// @param longestStep the longest that a client has waited for the answer to a frame, in seconds
    record Result(
            double seconds,
            double tableSeconds,
            int tableBytes,
            long connections,
            long dropped,
            long refused,
            long closed,
            int mostSettingUp,
            double longestStep) {}

    /// Where a node is with what it does as a client.
    private enum Step {
        REACH,
        REACHED,
        REGISTER,
        REGISTERED,
        TABLE,
        CONNECT,
        ACCEPTED,
        HELLO,
        WELCOME,
        READY,
        UP,
        INTRODUCE,
        INTRODUCTION,
        DONE,
        ALL_READY
    }

    /// The steps of a node as a client, and when it goes on.
    private static final class Visit implements Comparable<Visit> {
        private final int rank;
        private PrimitiveIterator.OfInt targets = Arrays.stream(new int[0]).iterator();
        private double time;
        private long order;
        private Step step = Step.REACH;
        private int target;
        private int attempts;
        private double asked;

        Visit(int rank) {
            this.rank = rank;
        }

        @Override
        public int compareTo(Visit other) {
            int byTime = Double.compare(time, other.time);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /// Nodes that connect in the order of the library.
    static SimulatedJoin inOrder(int size, JoinCosts costs) {
        return new SimulatedJoin(size, costs, false);
    }

    /// Nodes that connect in the opposite order: all to node 0 first.
    static SimulatedJoin inOppositeOrder(int size, JoinCosts costs) {
        return new SimulatedJoin(size, costs, true);
    }

    private SimulatedJoin(int size, JoinCosts costs, boolean opposite) {
        this.size = size;
        this.costs = costs;
        this.opposite = opposite;
        this.rendezvous = new SimulatedRendezvous(size, this);
        this.visits = new Visit[size];
        this.processorFree = new double[size];
        this.linkFree = new double[size];
        this.tableAt = new double[size];
        this.connections = new int[size];
        this.waiting = new int[size];
        this.settingUp = new int[size];
        this.connected = new BitSet[size];
        Arrays.fill(tableAt, -1);
        for (int rank = 0; rank < size; rank++) {
            visits[rank] = new Visit(rank);
            connected[rank] = new BitSet();
        }
    }

    /// Runs it.
    ///
    /// @throws IllegalStateException if it does not end with each pair connected exactly once
    Result run() {
        runEvents();
        check();
        return result();
    }

    /// Runs it until all have the table.
    Result meet() {
        onlyMeets = true;
        runEvents();
        return result();
    }

    private void runEvents() {
        for (Visit visit : visits) {
            at(costs.spread() * visit.rank / size + costs.latency(), visit, Step.REACH);
        }
        while (!events.isEmpty()) {
            Visit next = events.remove();
            now = next.time;
            go(next);
        }
    }

    private Result result() {
        return new Result(
                end / 1e9,
                tablesEnd / 1e9,
                tableBytes,
                (long) size * (size - 1) / 2,
                dropped,
                refused,
                closed,
                mostSettingUp,
                longestStep / 1e9);
    }

    private void check() {
        for (int rank = 0; rank < size; rank++) {
            if (connections[rank] != size - 1 || waiting[rank] != 0 || settingUp[rank] != 0) {
                throw new IllegalStateException("rank " + rank + " has " + connections[rank] + " connections");
            }
        }
        if (end < 0) {
            throw new IllegalStateException("the rendezvous does not know that all are connected");
        }
    }

    private void at(double time, Visit visit, Step step) {
        visit.time = time;
        visit.step = step;
        visit.order = order++;
        events.add(visit);
    }

    /// Keeps the processor of a node busy as soon as it is free.
    ///
    /// @return when that has ended
    private double work(int rank, double nanos) {
        processorFree[rank] = Math.max(processorFree[rank], now) + nanos;
        return processorFree[rank];
    }

    private void go(Visit visit) {
        int client = visit.rank;
        int server = visit.target;
        switch (visit.step) {
            case REACH -> reach(visit);
            case REACHED -> {
                atRendezvous--;
                reached(visit);
            }
            case REGISTER -> at(work(0, costs.register()), visit, Step.REGISTERED);
            case REGISTERED -> {
                unknown--;
                rendezvous.register(client);
            }
            case TABLE -> {
                tableAt[client] = now;
                tablesEnd = Math.max(tablesEnd, now);
                if (!onlyMeets) {
                    visit.targets = targets(client).iterator();
                    next(visit);
                }
            }
            case CONNECT -> connect(visit);
            case ACCEPTED -> accepted(visit);
            case HELLO -> at(work(server, costs.prepare()) + costs.latency(), visit, Step.WELCOME);
            case WELCOME -> {
                answered(visit);
                visit.asked = work(client, costs.bringUp());
                at(visit.asked + costs.latency(), visit, Step.READY);
            }
            case READY -> at(work(server, costs.bringUp()), visit, Step.UP);
            case UP -> {
                settingUp[server]--;
                at(now + costs.latency(), visit, Step.INTRODUCE);
            }
            case INTRODUCE -> {
                answered(visit);
                at(work(client, costs.introduce() / 2) + costs.latency(), visit, Step.INTRODUCTION);
            }
            case INTRODUCTION -> introduced(visit);
            case DONE -> {
                work(client, costs.introduce() / 2);
                next(visit);
                add(client, server);
            }
            case ALL_READY -> {
                if (++nodesReady == size) {
                    end = now;
                }
            }
        }
    }

    // The rendezvous.

    private void reach(Visit visit) {
        if (atRendezvous >= costs.backlog()) {
            drop(visit);
            return;
        }
        atRendezvous++;
        at(work(0, costs.accept()), visit, Step.REACHED);
    }

    private void drop(Visit visit) {
        dropped++;
        at(now + costs.retransmit() * (1L << Math.min(visit.attempts++, 6)), visit, visit.step);
    }

    private void reached(Visit visit) {
        visit.attempts = 0;
        if (unknown >= costs.mostUnknown()) {
            closed++;
            at(now + costs.retry(), visit, Step.REACH);
            return;
        }
        unknown++;
        at(now + costs.latency() + rendezvous.registerBytes() * costs.wirePerByte(), visit, Step.REGISTER);
    }

    @Override
    public void table(int rank, int bytes) {
        tableBytes = bytes;
        at(answer(bytes), visits[rank], Step.TABLE);
    }

    @Override
    public void allReady(int rank) {
        at(answer(64), visits[rank], Step.ALL_READY);
    }

    private double answer(int bytes) {
        linkFree[0] = Math.max(Math.max(now, processorFree[0]), linkFree[0]) + bytes * costs.wirePerByte();
        return linkFree[0] + costs.latency();
    }

    // Connections.

    private IntStream targets(int rank) {
        IntStream usual = rendezvous.targets(rank);
        return opposite ? usual.map(target -> rank - 1 - target) : usual;
    }

    private void next(Visit visit) {
        int client = visit.rank;
        if (visit.targets.hasNext()) {
            visit.target = visit.targets.nextInt();
            visit.attempts = 0;
            at(work(client, costs.prepare()) + costs.latency(), visit, Step.CONNECT);
        }
    }

    private void connect(Visit visit) {
        int server = visit.target;
        if (waiting[server] >= costs.backlog()) {
            drop(visit);
            return;
        }
        waiting[server]++;
        // The client has heard from TCP, and HELLO is on its way.
        visit.asked = now + costs.latency();
        at(work(server, costs.accept()), visit, Step.ACCEPTED);
    }

    private void accepted(Visit visit) {
        int server = visit.target;
        waiting[server]--;
        if (settingUp[server] >= costs.mostSettingUp()) {
            refused++;
            at(now + costs.retry(), visit, Step.CONNECT);
            return;
        }
        settingUp[server]++;
        mostSettingUp = Math.max(mostSettingUp, settingUp[server]);
        at(Math.max(now, visit.asked + costs.latency()), visit, Step.HELLO);
    }

    private void answered(Visit visit) {
        longestStep = Math.max(longestStep, now - visit.asked);
    }

    private void introduced(Visit visit) {
        int server = visit.target;
        if (tableAt[server] < 0) {
            throw new IllegalStateException("the table goes out by rank, but rank " + server + " has none yet");
        }
        if (!rendezvous.accepts(server, visit.rank)) {
            throw new IllegalStateException("rank " + server + " does not accept rank " + visit.rank);
        }
        double answered = work(server, costs.introduce());
        add(server, visit.rank);
        at(answered + costs.latency(), visit, Step.DONE);
    }

    private void add(int rank, int peer) {
        if (connected[rank].get(peer)) {
            throw new IllegalStateException("ranks " + rank + " and " + peer + " are connected twice");
        }
        connected[rank].set(peer);
        if (++connections[rank] == size - 1) {
            rendezvous.ready(rank);
        }
    }
}
