package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.DeviceAttributesLayout;
import io.rdmacomm.verbs.AtomicCapability;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.TransportType;
import java.util.EnumSet;
import java.util.Set;

/// What a device can do: from its attributes where they tell, from its transport or its driver where they do not.
final class IbvCapabilities {
    /// The vendor id of the kernel's software RoCE device (`RXE_VENDOR_ID`).
    private static final int RXE = 0xffffff;
    /// The vendor id of the kernel's software iWARP device (`SIW_VENDOR_ID`).
    private static final int SIW = 0x626d74;
    /// The vendor id of InfiniBand and Omni-Path adapters of QLogic and Intel (qib, hfi1).
    private static final int QLOGIC = 0x1175;

    private IbvCapabilities() {}

    /// Whether it is the kernel's software iWARP device.
    static boolean isSiw(DeviceAttributes attributes) {
        return attributes.vendorId() == SIW;
    }

    /// Whether it is the kernel's software RoCE device.
    static boolean isRxe(DeviceAttributes attributes) {
        return attributes.vendorId() == RXE;
    }

    static Set<Capability> of(TransportType transport, DeviceAttributes attributes) {
        boolean infiniband = transport == TransportType.INFINIBAND;
        boolean siw = isSiw(attributes);
        boolean rxe = isRxe(attributes);
        int flags = (int) attributes.limit(DeviceLimit.CAPABILITY_FLAGS);
        boolean windows = attributes.limit(DeviceLimit.MAX_WINDOWS) > 0;
        boolean shared = attributes.limit(DeviceLimit.MAX_SHARED_RECEIVE_QUEUES) > 0;
        boolean invalidates = has(flags, DeviceAttributesLayout.DEVICE_MEMORY_MANAGEMENT);
        boolean window2 = has(flags, DeviceAttributesLayout.DEVICE_MEMORY_WINDOW_2A)
                || has(flags, DeviceAttributesLayout.DEVICE_MEMORY_WINDOW_2B);

        Set<Capability> able = EnumSet.noneOf(Capability.class);
        add(able, Capability.RELIABLE_CONNECTED, infiniband || transport == TransportType.IWARP);
        add(able, Capability.UNRELIABLE_CONNECTED, infiniband);
        add(able, Capability.UNRELIABLE_DATAGRAM, transport != TransportType.IWARP);
        // An iWARP connection is a TCP connection: only a connection manager can make it.
        add(able, Capability.CONNECT_BY_NUMBERS, infiniband);
        add(able, Capability.SEND_WITH_IMMEDIATE, infiniband);
        add(able, Capability.WRITE_WITH_IMMEDIATE, infiniband);
        add(able, Capability.SEND_WITH_INVALIDATE, invalidates);
        add(able, Capability.LOCAL_INVALIDATE, invalidates && infiniband);
        add(able, Capability.ATOMICS, attributes.atomics() != AtomicCapability.NONE);
        // siw_activate_tx_from_sq() refuses it when it is its turn: the connection ends, or the queue stands still.
        add(able, Capability.FENCED_READ, !siw);
        // siw_try_1seg() counts wrongly where a page ends; a siw that asks is most likely answered by another.
        add(able, Capability.SHORT_READ_ACROSS_PAGES, !siw);
        // siw_check_sgl_tx() skips an empty element, siw_tx_hdt() looks up its memory nevertheless: the kernel fails.
        add(able, Capability.EMPTY_ELEMENTS, !siw);
        // iWARP does not know the state: its drivers end the connection instead (siw, cxgb4, irdma).
        add(able, Capability.SEND_QUEUE_DRAIN, transport != TransportType.IWARP);
        // siw_qp_nextstate_from_rts() does nothing, so that the peer can go on, and an ERROR is for ever.
        add(able, Capability.RESET, !siw);
        add(able, Capability.RECEIVER_NOT_READY, infiniband);
        add(able, Capability.SHARED_RECEIVE_QUEUE, shared);
        add(
                able,
                Capability.RESIZE_SHARED_RECEIVE_QUEUE,
                shared && has(flags, DeviceAttributesLayout.DEVICE_RESIZE_SHARED_RECEIVE_QUEUE));
        add(able, Capability.MEMORY_WINDOW_TYPE_1, windows && has(flags, DeviceAttributesLayout.DEVICE_MEMORY_WINDOW));
        add(able, Capability.MEMORY_WINDOW_TYPE_2, windows && window2);
        // No attribute tells; a driver that has neither answers EOPNOTSUPP.
        add(able, Capability.RESIZE_COMPLETION_QUEUE, !siw);
        add(able, Capability.REREGISTER_MEMORY, !siw && !rxe);
        // siw passes the solicited flag of an arriving message on to nobody, and completes a READ when it can.
        add(able, Capability.SOLICITED_EVENTS, !siw);
        add(able, Capability.ORDERED_COMPLETIONS, !siw);
        // siw_sq_flush() runs once, when the connection ends or the queue pair goes to ERROR; what comes later stays.
        add(able, Capability.FLUSH_IN_ERROR, !siw);
        return able;
    }

    /// Whether its driver rings the doorbell from user space: all but those that call ibv_cmd_post_send().
    static boolean postsWithoutSystemCall(DeviceAttributes attributes) {
        int vendor = attributes.vendorId();
        return vendor != RXE && vendor != SIW && vendor != QLOGIC;
    }

    private static boolean has(int flags, int flag) {
        return (flags & flag) != 0;
    }

    private static void add(Set<Capability> able, Capability capability, boolean can) {
        if (can) {
            able.add(capability);
        }
    }
}
