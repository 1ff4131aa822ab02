package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.PortValues;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/// The capabilities, limits and attributes of a software device.
final class SoftLimits {
    /// The greatest depth of a send, receive or shared receive queue.
    static final int MAX_DEPTH = ReceiveRing.MOST_RECEIVES;
    /// The largest completion queue.
    static final int MAX_COMPLETIONS = CompletionRing.MOST_COMPLETIONS;
    /// The active MTU, which is also the longest datagram.
    static final PathMtu MTU = PathMtu.MTU_4096;
    /// The most inline bytes of a request.
    static final int MAX_INLINE = 4096;

    /// The capabilities of all devices. The CPU copies all data, in order. So the device locks no memory, cannot
    /// access memory of other devices, and has no interrupts to moderate. The file system chooses the page size.
    private static final Set<Capability> CAPABILITIES = EnumSet.of(
            Capability.RELIABLE_CONNECTED,
            Capability.UNRELIABLE_DATAGRAM,
            Capability.CONNECT_BY_NUMBERS,
            Capability.CONNECTION_MANAGER,
            Capability.CONNECTION_TYPE_OF_SERVICE,
            Capability.CONNECTION_ACK_TIMEOUT,
            Capability.SEND_WITH_IMMEDIATE,
            Capability.WRITE_WITH_IMMEDIATE,
            Capability.SEND_WITH_INVALIDATE,
            Capability.LOCAL_INVALIDATE,
            Capability.ATOMICS,
            Capability.FENCED_READ,
            Capability.SHORT_READ_ACROSS_PAGES,
            Capability.EMPTY_ELEMENTS,
            Capability.SEND_QUEUE_DRAIN,
            Capability.RESET,
            Capability.RECEIVER_NOT_READY,
            Capability.SHARED_RECEIVE_QUEUE,
            Capability.LAST_WORK_EVENT,
            Capability.RESIZE_SHARED_RECEIVE_QUEUE,
            Capability.MEMORY_WINDOW_TYPE_1,
            Capability.MEMORY_WINDOW_TYPE_2,
            Capability.RESIZE_COMPLETION_QUEUE,
            Capability.REREGISTER_MEMORY,
            Capability.ARRIVAL_AT_OFFSETS,
            Capability.SOLICITED_EVENTS,
            Capability.ORDERED_COMPLETIONS,
            Capability.FLUSH_IN_ERROR);

    private SoftLimits() {}

    static boolean supports(Capability capability) {
        return CAPABILITIES.contains(capability);
    }

    static DeviceValues device(long guid) {
        DeviceValues values = new DeviceValues();
        values.firmware = "1.0";
        values.nodeGuid = guid;
        values.systemImageGuid = guid;
        values.hardwareVersion = 1;
        values.ports = 1;
        values.atomics = AtomicCapability.GLOBAL;
        Map<DeviceLimit, Long> limits = values.limits;
        limits.put(DeviceLimit.MAX_REGION_SIZE, Long.MAX_VALUE);
        limits.put(DeviceLimit.PAGE_SIZES, 4096L);
        limits.put(DeviceLimit.MAX_QUEUE_PAIRS, (long) ControlLayout.QUEUE_PAIR_COUNT);
        limits.put(DeviceLimit.MAX_QUEUE_PAIR_DEPTH, (long) MAX_DEPTH);
        limits.put(DeviceLimit.MAX_SGE, (long) ElementList.MAX_ELEMENTS);
        limits.put(DeviceLimit.MAX_SGE_READ, (long) ElementList.MAX_ELEMENTS);
        limits.put(DeviceLimit.MAX_COMPLETION_QUEUES, 1L << 16);
        limits.put(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH, (long) MAX_COMPLETIONS);
        limits.put(DeviceLimit.MAX_REGIONS, (long) ControlLayout.KEY_COUNT);
        limits.put(DeviceLimit.MAX_PROTECTION_DOMAINS, 1L << 16);
        limits.put(DeviceLimit.MAX_READ_ATOMIC, (long) LinkTerms.MOST_READS);
        limits.put(DeviceLimit.MAX_DEVICE_READ_ATOMIC, (long) LinkTerms.MOST_READS * ControlLayout.QUEUE_PAIR_COUNT);
        limits.put(DeviceLimit.MAX_INITIATOR_READ_ATOMIC, (long) LinkTerms.MOST_READS);
        limits.put(DeviceLimit.MAX_WINDOWS, (long) ControlLayout.KEY_COUNT);
        limits.put(DeviceLimit.MAX_ADDRESS_HANDLES, (long) Integer.MAX_VALUE);
        limits.put(DeviceLimit.MAX_SHARED_RECEIVE_QUEUES, 1L << 16);
        limits.put(DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_DEPTH, (long) MAX_DEPTH);
        limits.put(DeviceLimit.MAX_SHARED_RECEIVE_QUEUE_SGE, (long) ElementList.MAX_ELEMENTS);
        limits.put(DeviceLimit.MAX_PARTITION_KEYS, 1L);
        limits.put(DeviceLimit.MAX_INLINE, (long) MAX_INLINE);
        limits.put(DeviceLimit.COMPLETION_VECTORS, 1L);
        return values;
    }

    static PortValues port() {
        PortValues values = new PortValues();
        values.state = PortState.ACTIVE;
        values.maxMtu = MTU;
        values.activeMtu = MTU;
        values.gidTableLength = 1;
        values.partitionKeyTableLength = 1;
        values.maxMessageSize = LocalElements.MAX_MESSAGE;
        values.maxVirtualLanes = 1;
        values.activeWidth = 1;
        values.activeSpeed = 1;
        values.physicalState = 5;
        values.linkLayer = LinkLayer.ETHERNET;
        return values;
    }
}
