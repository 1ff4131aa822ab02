package io.rdmacomm.fault;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// An open device that injects faults into another one.
final class FaultContext extends Wrapper<ContextDriver> implements ContextDriver {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final FaultPlan plan;
    private final OpenDevice device;
    private final DeviceFaults faults;
    private final Map<Long, FaultCompletionChannel> channels = new ConcurrentHashMap<>();
    private volatile boolean closing;

    FaultContext(String name, ContextDriver real, FaultPlan plan) {
        super(real);
        this.plan = plan;
        this.device = new OpenDevice(name, plan, plan.changesRequests() ? Spoiler.of(real) : null);
        this.faults = device.faults();
    }

    @Override
    public boolean supports(Capability capability) {
        return !plan.restrictions().lacking().contains(capability) && real.supports(capability);
    }

    @Override
    public DeviceValues queryDevice() {
        return real.queryDevice();
    }

    @Override
    public PortValues queryPort(int number) {
        return faults.seen(number, real.queryPort(number));
    }

    @Override
    public Gid queryGid(int port, int index) {
        return real.queryGid(port, index);
    }

    @Override
    public List<GidEntry> queryGidTable(int port) {
        return real.queryGidTable(port);
    }

    @Override
    public int queryPartitionKey(int port, int index) {
        return real.queryPartitionKey(port, index);
    }

    @Override
    public Map<String, Long> counters(int port) {
        return real.counters(port);
    }

    @Override
    public ProtectionDomainDriver allocateProtectionDomain() {
        device.before(FaultOperation.ALLOCATE_DOMAIN);
        return new FaultProtectionDomain(device, real.allocateProtectionDomain());
    }

    @Override
    public CompletionChannelDriver createCompletionChannel() {
        device.before(FaultOperation.CREATE_CHANNEL);
        CompletionChannelDriver channel = real.createCompletionChannel();
        if (!plan.delaysCompletions()) {
            return channel;
        }
        FaultCompletionChannel wrapper = new FaultCompletionChannel(channel, channels::remove);
        channels.put(channel.handle(), wrapper);
        return wrapper;
    }

    @Override
    public WaitGroupDriver createWaitGroup() {
        WaitGroupDriver group = real.createWaitGroup();
        return plan.delaysCompletions() ? new FaultWaitGroup(group, channels) : group;
    }

    @Override
    public CompletionQueueDriver createCompletionQueue(
            int capacity, @Nullable CompletionChannelDriver channel, int vector) {
        device.before(FaultOperation.CREATE_COMPLETION_QUEUE);
        CompletionQueueDriver queue = real.createCompletionQueue(capacity, channel, vector);
        FaultCompletionQueue wrapper =
                new FaultCompletionQueue(device, queue, channel == null ? null : channels.get(channel.handle()));
        device.completionQueues().put(queue.handle(), wrapper);
        return wrapper;
    }

    @Override
    public ConnectionManagerDriver openConnectionManager() {
        return new FaultConnectionManager(device, real.openConnectionManager());
    }

    @Override
    public String whyNoConnectionManager() {
        return real.whyNoConnectionManager();
    }

    /// Checks periodically while a rule may raise an event, because only an event of the real device wakes a
    /// waiting thread.
    @Override
    public @Nullable DriverEvent awaitEvent(long timeoutNanos) throws InterruptedException {
        long begin = System.nanoTime();
        long left = timeoutNanos;
        do {
            DriverEvent injected = faults.nextEvent();
            if (injected != null) {
                return injected;
            }
            DriverEvent event = real.awaitEvent(plan.raisesEvents() ? Math.min(left, LOOK_NANOS) : left);
            if (event != null) {
                return event;
            }
            left = timeoutNanos - (System.nanoTime() - begin);
        } while (left > 0 && !closing);
        return faults.nextEvent();
    }

    @Override
    public void closing() {
        closing = true;
        real.closing();
    }

    @Override
    public void close() {
        Spoiler spoiler = device.spoiler();
        if (spoiler != null) {
            spoiler.close();
        }
        real.close();
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
