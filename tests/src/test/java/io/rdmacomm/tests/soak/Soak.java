package io.rdmacomm.tests.soak;

import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.verbs.Rdma;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/// The conductor: starts the workers and links, injects the faults, takes samples, and writes the report.
final class Soak implements WorkerProcess.Listener {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String DIRECTORY = "rdmacomm.soft.directory";
    private static final String SHARED = "soft0";
    private static final String TCP = "tcp0";
    private static final String CABLE = "veth0";
    /// The workers that live as long as the run.
    private static final int LONG_LIVED = 2;
    private static final long SAMPLE_SECONDS = 10;
    private static final double REST_SECONDS = 300;
    private static final double WARM_UP_SECONDS = 600;
    /// In this time, sockets that linger are closed.
    private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(3);
    private static final int LONGEST_STOP_MILLIS = 2500;
    private static final int LONGEST_CUT_MILLIS = 900;

    private final SoakOptions options;
    private final Report report;
    private final Random random;
    private long began = System.nanoTime();
    private final Path errors;
    private final @Nullable FarNamespace far;
    private final List<@Nullable WorkerProcess> workers = new ArrayList<>();
    private final List<LinkRun> links = new ArrayList<>();
    private final List<ChurnRun> churns = new ArrayList<>();
    private final Map<String, Route> routes = new HashMap<>();
    /// Lives and faults hold the read lock; a rest takes the write lock.
    private final ReentrantReadWriteLock resting = new ReentrantReadWriteLock(true);
    private volatile boolean over;

    Soak(SoakOptions options) throws IOException {
        this.options = options;
        this.random = new Random(options.seed());
        Files.createDirectories(options.directory());
        errors = options.directory().resolve("workers.log").toAbsolutePath();
        Files.deleteIfExists(errors);
        far = options.far() ? FarNamespace.get() : null;
        report = new Report(options, far == null ? FarNamespace.absence() : "");
    }

    /// Runs for the wanted time. Returns whether nothing was wrong.
    boolean run() throws Exception {
        System.out.println("soak: seed " + options.seed() + ", " + options.seconds() + " s, "
                + (far == null ? "LEFT OUT: links between namespaces: " + report.absence() : far.toString())
                + ", workers' errors in " + errors);
        plan();
        for (int i = 0; i < options.workers() + (far == null ? 0 : 1); i++) {
            workers.add(null);
            start(i);
        }
        began = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        for (LinkRun link : links) {
            threads.add(Thread.ofVirtual().start(link));
        }
        for (ChurnRun churn : churns) {
            threads.add(Thread.ofVirtual().start(churn));
        }
        threads.add(Thread.ofPlatform().daemon().name("faults").start(this::injectFaults));
        watch();
        over = true;
        links.forEach(LinkRun::rest);
        for (Thread thread : threads) {
            if (!thread.join(java.time.Duration.ofMinutes(5))) {
                report.violation("", "stuck: " + thread + " does not end");
            }
        }
        settle();
        sample(true);
        end();
        return report.write(seconds());
    }

    private void plan() {
        for (int a = 0; a < options.workers() && options.local(); a++) {
            for (int b = a + 1; b < options.workers(); b++) {
                route(a, b, SHARED, "shared memory");
                route(a, b, TCP, "TCP");
            }
        }
        for (int client = 1; client < options.workers() && options.local(); client++) {
            churn(client, SHARED, "sockets, shared memory");
            churn(client, TCP, "sockets, TCP");
        }
        for (int a = 0; a < options.workers() - 1 && far != null; a++) {
            route(a, options.workers(), CABLE, "TCP, veth");
        }
    }

    private void route(int a, int b, String device, String transport) {
        Route route = new Route(device + "-" + a + "-" + b, a, b, device, transport);
        routes.put(route.name(), route);
        report.add(route);
        links.add(new LinkRun(route, this, random.nextLong()));
    }

    private void churn(int client, String device, String transport) {
        Route route = new Route("sockets-" + device + "-0-" + client, 0, client, device, transport);
        report.add(route);
        churns.add(new ChurnRun(route, this, random.nextLong()));
    }

    private void start(int i) throws InterruptedException {
        boolean isFar = i == options.workers();
        String local = SHARED + "=127.0.0.1," + TCP + "=127.0.0.1?sharedMemory=false&checksum=true";
        String devices = far == null ? local : isFar ? cable(far.far()) : local + "," + cable(far.near());
        List<String> names = far == null ? List.of(SHARED, TCP) : isFar ? List.of(CABLE) : List.of(SHARED, TCP, CABLE);
        WorkerProcess worker = WorkerProcess.start(
                isFar ? "far" : Integer.toString(i),
                isFar && far != null ? far.launcher() : List.of(),
                Map.of(DEVICES, devices, DIRECTORY, PrivateMemory.folder().toString()),
                names,
                errors,
                this);
        synchronized (workers) {
            workers.set(i, worker);
            workers.notifyAll();
        }
    }

    private static String cable(String address) {
        return CABLE + "=" + address + "?sharedMemory=false";
    }

    private double seconds() {
        return (System.nanoTime() - began) / 1e9;
    }

    // For the links ----------------------------------------------------------------------------------------------

    /// Begins a life; [#done()] ends it.
    ///
    /// @return false if the run is over
    boolean begin() {
        resting.readLock().lock();
        if (over) {
            resting.readLock().unlock();
            return false;
        }
        return true;
    }

    void done() {
        resting.readLock().unlock();
    }

    /// The living worker `i`; waits until it is started.
    WorkerProcess worker(int i) throws InterruptedException {
        synchronized (workers) {
            while (true) {
                WorkerProcess worker = workers.get(i);
                if (worker != null && worker.killed() == 0) {
                    return worker;
                }
                workers.wait(1000);
            }
        }
    }

    /// Requests of one side of a link in a second.
    int rate() {
        return Math.max(1, options.rate() / links.size() / 2);
    }

    /// How long a life is, in milliseconds.
    long life(Random of) {
        return 300 + (long) Math.min(20_000, -Math.log(1 - of.nextDouble()) * 6000);
    }

    void count(Route route, String what) {
        report.count(route, what);
    }

    /// The survivor has noticed a death.
    ///
    /// @param delay how long threads of the survivor had to wait for a processor
    void noticed(Route route, WorkerProcess dead, long at, long delay) throws InterruptedException {
        long nanos = dead.killed() == 0 ? -1 : Math.max(0, at - dead.ended());
        if (nanos < 0) {
            report.violation(route.name(), "unexpected: worker " + dead + " died, but nobody killed it");
        }
        report.noticed(route, nanos, delay);
    }

    void violation(Route route, String text) {
        report.violation(route.name(), text);
    }

    @Override
    public void said(WorkerProcess worker, Words words) {
        if (words.has("violation")) {
            report.violation(words.text("violation"), words.text("text") + " in worker " + worker);
        } else if (words.has("ended")) {
            for (LinkRun link : links) {
                if (link.route().name().equals(words.text("ended"))) {
                    link.ended(worker, words.text("text"), words.number("epoch"), words.number("noticed"));
                }
            }
        }
    }

    @Override
    public void gone(WorkerProcess worker) {
        links.forEach(link -> link.gone(worker));
        if (worker.killed() == 0 && !over) {
            report.violation("", "unexpected: worker " + worker + " has ended, but nobody killed it; see " + errors);
        }
    }

    // Faults -----------------------------------------------------------------------------------------------------

    private void injectFaults() {
        try {
            while (!over) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1000 + random.nextInt(6000)));
                if (begin()) {
                    try {
                        injectFault();
                    } finally {
                        done();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | AssertionError e) {
            report.violation("", "stuck: the thread of the faults: " + e);
        }
    }

    private void injectFault() throws InterruptedException {
        int dice = random.nextInt(10);
        if (dice < 3 && workers.size() > LONG_LIVED) {
            int victim = LONG_LIVED + random.nextInt(workers.size() - LONG_LIVED);
            worker(victim).kill();
            report.fault("SIGKILL");
            start(victim);
        } else if (dice < 7 || far == null) {
            stop(worker(random.nextInt(workers.size())));
        } else {
            boolean here = random.nextBoolean();
            far.plug(here, false);
            report.fault("cable unplugged");
            pause(LONGEST_CUT_MILLIS);
            far.plug(here, true);
        }
    }

    /// Stops a worker, in every second case ends a link of it meanwhile, and lets it go on.
    private void stop(WorkerProcess worker) {
        long start = System.nanoTime();
        worker.freeze();
        report.fault("SIGSTOP, SIGCONT");
        pause(LONGEST_STOP_MILLIS / 4);
        if (random.nextBoolean()) {
            links.stream()
                    .filter(LinkRun::isRunning)
                    .filter(link -> link.route().ends().anyMatch(end -> workers.get(end) == worker))
                    .skip(random.nextInt(3))
                    .findFirst()
                    .ifPresent(link -> link.dropPeerOf(worker));
        }
        pause(LONGEST_STOP_MILLIS * 3 / 4);
        worker.thaw();
        report.stopped(System.nanoTime() - start);
    }

    private void pause(int mostMillis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(mostMillis)));
    }

    // Samples ----------------------------------------------------------------------------------------------------

    private void watch() throws InterruptedException {
        double warm = Math.min(options.seconds() / 6, WARM_UP_SECONDS);
        double nextRest = warm;
        while (seconds() < options.seconds()) {
            double left = Math.min(options.seconds() - seconds(), SAMPLE_SECONDS);
            LockSupport.parkNanos((long) (left * 1e9));
            if (seconds() >= nextRest) {
                nextRest = seconds() + REST_SECONDS;
                rest();
                report.warm();
            } else {
                sample(false);
            }
            System.out.println(report.progress(seconds()));
        }
    }

    /// Lets all links end their lives, and takes a sample while there are none.
    private void rest() throws InterruptedException {
        links.forEach(LinkRun::rest);
        resting.writeLock().lock();
        try {
            settle();
            sample(true);
        } finally {
            resting.writeLock().unlock();
        }
    }

    private static void settle() {
        LockSupport.parkNanos(SETTLE_NANOS);
    }

    private void sample(boolean atRest) throws InterruptedException {
        List<@Nullable WorkerProcess> now;
        synchronized (workers) {
            now = new ArrayList<>(workers);
        }
        for (int i = 0; i < now.size(); i++) {
            WorkerProcess worker = now.get(i);
            try {
                if (worker != null) {
                    Words words = worker.call(Words.of("do", "sample"));
                    report.sample(seconds(), i < LONG_LIVED ? worker.name() : null, words, atRest);
                }
            } catch (WorkerProcess.GoneException e) {
                // It was killed: its counts since the last sample are lost.
            } catch (IllegalStateException e) {
                report.violation("", "stuck: " + e.getMessage());
            }
        }
        report.shared(seconds(), PrivateMemory.contents().size(), occupied(), atRest);
    }

    /// The bytes that the files in shared memory take: most of a control file is a hole.
    private static long occupied() throws InterruptedException {
        try {
            Process du = new ProcessBuilder("du", "-sk", PrivateMemory.folder().toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String said = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            du.waitFor();
            return Long.parseLong(said.replaceAll("(?s)\\D.*", "")) << 10;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Ends all workers. Nothing may be left of them.
    private void end() throws InterruptedException {
        for (WorkerProcess worker : workers) {
            String wrong = worker == null ? null : worker.end();
            if (wrong != null) {
                report.violation("", "stuck: " + wrong);
            }
        }
        // The next context to open removes the files of killed processes.
        PrivateMemory.use();
        System.setProperty(DEVICES, SHARED + "=127.0.0.1");
        Rdma.open(SHARED).close();
        List<String> left = PrivateMemory.contents();
        if (!left.isEmpty()) {
            report.violation("", "leak: left in shared memory: " + left);
        }
    }
}
