package io.rdmacomm.comm;

import io.rdmacomm.testing.DeviceStub;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A device that takes every request and never completes one, not even when its queue pair goes to ERROR. Tests supply
/// completions with [#complete], and its connection manager.
public final class SilentDevice extends DeviceStub {
    private static final int NUMBER = 0x11;

    public final List<Long> sends = new ArrayList<>();
    public final List<Long> receives = new ArrayList<>();
    public final List<Integer> limits = new ArrayList<>();
    private final @Nullable ConnectionManagerDriver connections;
    private int queuePairs;

    /// The number of requests that it takes before it throws an exception.
    public int sendsUntilError = Integer.MAX_VALUE;

    public SilentDevice() {
        this(null);
    }

    public SilentDevice(@Nullable ConnectionManagerDriver connections) {
        super(
                "silent",
                Map.of(
                        DeviceLimit.MAX_QUEUE_PAIR_DEPTH, 1000L,
                        DeviceLimit.MAX_SGE, 4L,
                        DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, 1000L,
                        DeviceLimit.COMPLETION_VECTORS, 3L));
        this.connections = connections;
        capabilities.remove(Capability.FLUSH_IN_ERROR);
    }

    public void complete(long workId, WorkStatus status, CompletionOpcode opcode) {
        complete(workId, status, opcode, NUMBER);
    }

    @Override
    protected SharedReceiveQueueDriver createSharedReceiveQueue(SharedReceiveQueueOptions options) {
        return new SilentSharedQueue(options);
    }

    @Override
    protected QueuePairDriver createQueuePair(QueuePairRequest request) {
        return new SilentQueuePair(NUMBER + queuePairs++, request.sizes());
    }

    @Override
    protected @Nullable ConnectionManagerDriver openConnectionManager() {
        return connections;
    }

    private final class SilentSharedQueue extends DriverStub implements SharedReceiveQueueDriver {
        private final SharedReceiveQueueOptions options;

        SilentSharedQueue(SharedReceiveQueueOptions options) {
            super("shared receive queue");
            this.options = options;
        }

        @Override
        public SharedReceiveQueueOptions query() {
            return options;
        }

        @Override
        public int post(RequestChain chain, int first, int count) {
            return take(chain, first, count, receives);
        }

        @Override
        public void armLimit(int limit) {
            limits.add(limit);
        }

        @Override
        public void close() {
            log.add("destroy shared queue");
        }
    }

    private final class SilentQueuePair extends DriverStub implements QueuePairDriver {
        private final int number;
        private final QueueSizes sizes;

        SilentQueuePair(int number, QueueSizes sizes) {
            super("queue pair 0x" + Integer.toHexString(number) + "");
            this.number = number;
            this.sizes = sizes;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public QueueSizes sizes() {
            return sizes;
        }

        @Override
        public void modify(
                QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective) {
            if (to == QueuePairState.ERROR) {
                log.add("error");
            }
        }

        @Override
        public int postSends(RequestChain chain, int first, int count) {
            if (sendsUntilError == 0) {
                throw new VerbException("ibv_post_send", Errno.ENOMEM, "by this test");
            }
            int taken = Math.min(count, sendsUntilError);
            sendsUntilError -= taken;
            return take(chain, first, taken, sends);
        }

        @Override
        public int postReceives(RequestChain chain, int first, int count) {
            return take(chain, first, count, receives);
        }

        @Override
        public void close() {
            log.add("destroy");
        }
    }
}
