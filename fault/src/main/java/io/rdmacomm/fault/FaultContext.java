package io.rdmacomm.fault;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionManagerProvider;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// An open device that injects faults into another one. Each of its objects stands for one of the real device.
final class FaultContext extends Context implements ConnectionManagerProvider {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final Context real;
    private final FaultPlan plan;
    private final DeviceFaults faults = new DeviceFaults();
    private final RuleCounters calls;
    private final @Nullable Spoiler spoiler;
    private final Map<Resource, Resource> standIns = new ConcurrentHashMap<>();
    private final AtomicInteger queuePairs = new AtomicInteger();

    FaultContext(FaultDevice device, Context real, FaultPlan plan) {
        super(device);
        this.real = real;
        this.plan = plan;
        this.calls = new RuleCounters(plan, Rule.Moment.CALL, 0);
        this.spoiler = plan.changesRequests() ? new Spoiler(real) : null;
    }

    FaultPlan plan() {
        return plan;
    }

    DeviceFaults faults() {
        return faults;
    }

    /// Makes requests fail; null if no rule does.
    @Nullable
    Spoiler spoiler() {
        return spoiler;
    }

    /// The number of a new queue pair, counted from 1.
    int nextQueuePair() {
        return queuePairs.incrementAndGet();
    }

    /// Does what the rules want before a call to the real device.
    ///
    /// @throws VerbException if the call is to fail
    void before(Operation operation) {
        faults.checkAlive(operation.text());
        Fault fault;
        synchronized (calls) {
            fault = calls.next(operation);
        }
        if (fault instanceof Fault.FailedCall failure) {
            throw new VerbException(
                    operation.text(), failure.errno(), "a rule in the name of " + device() + " says so");
        }
        if (fault instanceof Fault.Delay delay) {
            pause(delay.mostNanos());
        }
    }

    private static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0 && !Thread.currentThread().isInterrupted(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(left); // for a time, not for a condition
        }
    }

    /// Notes that `standIn` stands for `object` of the real device.
    <T extends Resource> T standsFor(Resource object, T standIn) {
        standIns.put(object, standIn);
        return standIn;
    }

    /// Forgets `object` of the real device.
    void forget(Resource object) {
        standIns.remove(object);
    }

    /// The wrapper of `object`, which belongs to the real device; null if it was closed.
    @Nullable
    Resource standIn(Resource object) {
        return standIns.get(object);
    }

    /// Fails the device: all queue pairs enter the error state or, if that is silent, no queue reports anything more.
    void fail(boolean silent) {
        if (faults.fail()) {
            for (Resource standIn : standIns.values()) {
                if (silent && standIn instanceof FaultCompletionQueue queue) {
                    queue.silence();
                } else if (!silent && standIn instanceof FaultQueuePair queuePair) {
                    queuePair.failReal();
                }
            }
        }
    }

    @Override
    public boolean supports(Capability capability) {
        return !plan.restrictions().lacking().contains(capability) && real.supports(capability);
    }

    @Override
    protected DeviceAttributes doQueryDevice() {
        return real.attributes();
    }

    @Override
    protected PortAttributes doQueryPort(int number) {
        return faults.seen(number, real.port(number));
    }

    @Override
    protected Gid doQueryGid(int port, int index) {
        return real.gid(port, index);
    }

    @Override
    protected List<GidEntry> doQueryGidTable(int port) {
        return real.gidTable(port);
    }

    @Override
    protected int doQueryPartitionKey(int port, int index) {
        return real.partitionKey(port, index);
    }

    @Override
    protected Map<String, Long> doQueryCounters(int port) {
        return real.counters(port);
    }

    @Override
    protected ProtectionDomain doAllocateProtectionDomain() {
        before(Operation.ALLOCATE_DOMAIN);
        return new FaultProtectionDomain(this, real.allocateProtectionDomain());
    }

    @Override
    protected CompletionChannel doCreateCompletionChannel() {
        before(Operation.CREATE_CHANNEL);
        return new FaultCompletionChannel(this, real.createCompletionChannel());
    }

    @Override
    protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
        before(Operation.CREATE_COMPLETION_QUEUE);
        FaultCompletionChannel channel = (FaultCompletionChannel) options.channel();
        CompletionQueue queue = real.createCompletionQueue(new CompletionQueueOptions(
                options.capacity(),
                channel == null ? null : channel.real(),
                options.vector(),
                options.singleThreaded()));
        return standsFor(queue, new FaultCompletionQueue(this, options, queue));
    }

    @Override
    public ConnectionManager openConnectionManager() {
        return adopt(new FaultConnectionManager(this, ConnectionManager.open(real)));
    }

    @Override
    public String whyNoConnectionManager() {
        return real instanceof ConnectionManagerProvider able ? able.whyNoConnectionManager() : "";
    }

    /// Nothing but an event of its own wakes a thread that waits for those of the real device, so while a rule may
    /// raise one, this looks now and then.
    @Override
    protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) throws InterruptedException {
        long begin = System.nanoTime();
        long left = timeoutNanos;
        while (true) {
            AsyncEvent injected = faults.nextEvent();
            if (injected != null) {
                return injected;
            }
            AsyncEvent event = awaitReal(plan.raisesEvents() ? Math.min(left, LOOK_NANOS) : left);
            if (event != null) {
                return translated(event);
            }
            left = timeoutNanos - (System.nanoTime() - begin);
            if (left <= 0 || !isOpen()) {
                return faults.nextEvent();
            }
        }
    }

    private @Nullable AsyncEvent awaitReal(long nanos) throws InterruptedException {
        try {
            return real.awaitAsyncEvent(Duration.ofNanos(Math.max(0, nanos)));
        } catch (IllegalStateException e) {
            if (isOpen()) {
                throw e;
            }
            return null; // closed meanwhile
        }
    }

    private AsyncEvent translated(AsyncEvent event) {
        Resource object = event.resource();
        if (object == null) {
            return event;
        }
        Resource standIn = standIn(object);
        if (standIn instanceof FaultQueuePair queuePair) {
            queuePair.noticeState();
        }
        return new AsyncEvent(event.type(), standIn == null ? object : standIn, event.port());
    }

    @Override
    protected void doCloseDevice() {
        real.close();
    }
}
