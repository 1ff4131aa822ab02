package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.DeviceValues;
import java.util.EnumSet;
import java.util.Set;

/// The capabilities of a device according to its attributes and transport. [KernelDriver#missing()] removes those
/// that its driver nevertheless lacks.
final class IbvCapabilities {
    private IbvCapabilities() {}

    /// @param takesOptions whether the library passes optional access flags on
    static Set<Capability> of(TransportType transport, DeviceValues attributes, boolean takesOptions) {
        boolean infiniband = transport == TransportType.INFINIBAND;
        boolean iwarp = transport == TransportType.IWARP;
        int flags = (int) attributes.limit(DeviceLimit.CAPABILITY_FLAGS);
        boolean windows = attributes.limit(DeviceLimit.MAX_WINDOWS) > 0;
        boolean shared = attributes.limit(DeviceLimit.MAX_SHARED_RECEIVE_QUEUES) > 0;
        boolean invalidates = has(flags, DeviceAttributesLayout.DEVICE_MEMORY_MANAGEMENT);

        // No attribute reports these. A driver that cannot reregister returns EOPNOTSUPP; see ResizeTrial, too.
        Set<Capability> able = EnumSet.of(
                Capability.FENCED_READ,
                Capability.SHORT_READ_ACROSS_PAGES,
                Capability.EMPTY_ELEMENTS,
                Capability.CONNECTION_TYPE_OF_SERVICE,
                Capability.RESET,
                Capability.RESIZE_COMPLETION_QUEUE,
                Capability.REREGISTER_MEMORY,
                Capability.HUGE_PAGES,
                Capability.ARRIVAL_AT_OFFSETS,
                Capability.SOLICITED_EVENTS,
                Capability.ORDERED_COMPLETIONS,
                Capability.FLUSH_IN_ERROR);
        add(able, Capability.RELIABLE_CONNECTED, infiniband || iwarp);
        add(able, Capability.UNRELIABLE_CONNECTED, infiniband);
        add(able, Capability.UNRELIABLE_DATAGRAM, !iwarp);
        add(able, Capability.MULTICAST, !iwarp && attributes.limit(DeviceLimit.MAX_MULTICAST_GROUPS) > 0);
        // An iWARP connection is a TCP connection: only a connection manager can make it.
        add(able, Capability.CONNECT_BY_NUMBERS, infiniband);
        add(able, Capability.CONNECTION_ACK_TIMEOUT, infiniband);
        add(able, Capability.DATAGRAM_SERVICES, infiniband);
        add(able, Capability.SEND_WITH_IMMEDIATE, infiniband);
        add(able, Capability.WRITE_WITH_IMMEDIATE, infiniband);
        add(able, Capability.SEND_WITH_INVALIDATE, invalidates);
        add(able, Capability.LOCAL_INVALIDATE, invalidates && infiniband);
        add(
                able,
                Capability.COMPLETION_MODERATION,
                attributes.limit(DeviceLimit.MAX_MODERATED_COMPLETIONS) > 0
                        && attributes.limit(DeviceLimit.MAX_MODERATION_PERIOD) > 0);
        add(able, Capability.ATOMICS, attributes.atomics != AtomicCapability.NONE);
        // iWARP does not have the state: its drivers end the connection instead (siw, cxgb4, irdma).
        add(able, Capability.SEND_QUEUE_DRAIN, !iwarp);
        add(able, Capability.RECEIVER_NOT_READY, infiniband);
        add(able, Capability.SHARED_RECEIVE_QUEUE, shared);
        add(able, Capability.LAST_WORK_EVENT, shared);
        add(
                able,
                Capability.RESIZE_SHARED_RECEIVE_QUEUE,
                shared && has(flags, DeviceAttributesLayout.DEVICE_RESIZE_SHARED_RECEIVE_QUEUE));
        add(
                able,
                Capability.ON_DEMAND_PAGING,
                (attributes.limit(DeviceLimit.ODP_CAPABILITIES) & DeviceAttributesLayout.ODP_SUPPORTED) != 0);
        add(able, Capability.RELAXED_ORDERING, takesOptions);
        add(able, Capability.MEMORY_WINDOW_TYPE_1, windows && has(flags, DeviceAttributesLayout.DEVICE_MEMORY_WINDOW));
        add(
                able,
                Capability.MEMORY_WINDOW_TYPE_2,
                windows
                        && has(
                                flags,
                                DeviceAttributesLayout.DEVICE_MEMORY_WINDOW_2A
                                        | DeviceAttributesLayout.DEVICE_MEMORY_WINDOW_2B));
        return able;
    }

    private static boolean has(int flags, int any) {
        return (flags & any) != 0;
    }

    private static void add(Set<Capability> able, Capability capability, boolean can) {
        if (can) {
            able.add(capability);
        }
    }
}
