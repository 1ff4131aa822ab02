package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularData;
import javax.management.openmbean.TabularDataSupport;
import javax.management.openmbean.TabularType;

/// Registers the management beans of one session, its endpoints and their channels with the platform's
/// server. Bean names contain numbers, so that session names need not be unique. Only this class and
/// [ManagementBean] need the module java.management.
final class SessionBeans implements SessionObserver {
    private static final String DOMAIN = "io.rdmacomm:type=";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final long session;
    private final List<ObjectName> ofSession = new CopyOnWriteArrayList<>();
    private final Map<PeerConnection, List<ObjectName>> ofEndPoints = new ConcurrentHashMap<>();

    /// @param number of the session, unique in this process
    SessionBeans(ObservedSession session, long number) {
        this.session = number;
        register(of(session), "Session,id=" + number, session.name(), ofSession);
    }

    private static ManagementBean of(ObservedSession session) {
        return new ManagementBean(
                        "a session, with the sum over all data channels, also over those of closed endpoints",
                        () -> session.statistics().channels())
                .with("Name", String.class, "its name, as sent to peers", session::name)
                .with(
                        "Device",
                        String.class,
                        "the name of its device",
                        () -> session.context().device().name())
                .with(
                        "EndPoints",
                        int.class,
                        "endpoints that are open",
                        () -> session.statistics().endPoints())
                .with(
                        "EndPointsSetUp",
                        long.class,
                        "endpoints that were set up so far",
                        () -> session.statistics().setUp())
                .with(
                        "EndPointsFailed",
                        long.class,
                        "endpoints that have failed since they were set up, and are closed",
                        () -> session.statistics().failed())
                .with(
                        "RegisteredBytes",
                        long.class,
                        "the memory that it has registered now",
                        () -> session.statistics().registeredBytes())
                .with(
                        "DeviceCounters",
                        TabularData.class,
                        "the counters of the device's port, see io.rdmacomm.verbs.Context",
                        () -> table(session.context().counters(session.port())));
    }

    /// A map in the form of an MXBean, which management clients can show.
    private static TabularData table(Map<String, Long> numbers) {
        String[] items = {"key", "value"};
        String name = "java.util.Map<java.lang.String, java.lang.Long>";
        try {
            CompositeType row =
                    new CompositeType(name, name, items, items, new OpenType<?>[] {SimpleType.STRING, SimpleType.LONG});
            TabularData table = new TabularDataSupport(new TabularType(name, name, row, new String[] {"key"}));
            for (Map.Entry<String, Long> entry : numbers.entrySet()) {
                table.put(new CompositeDataSupport(row, items, new Object[] {entry.getKey(), entry.getValue()}));
            }
            return table;
        } catch (OpenDataException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ManagementBean of(PeerConnection endPoint) {
        return new ManagementBean("an endpoint, with the sum over its data channels", endPoint::statistics)
                .with("Name", String.class, "its name in messages", endPoint::name)
                .with("PeerName", String.class, "the name that the peer has given itself", endPoint::peerName)
                .with("PeerAddress", String.class, "the peer's TCP address and port", endPoint::peerAddress)
                .with(
                        "State",
                        String.class,
                        "its state, see EndPointState",
                        () -> endPoint.state().name())
                .with("Failure", String.class, "why it failed; empty if it has not", () -> {
                    RdmaException why = endPoint.failure();
                    return why == null ? "" : why.getMessage();
                })
                .with(
                        "Channels",
                        int.class,
                        "the number of its data channels",
                        () -> endPoint.data().size());
    }

    private static ManagementBean of(RdmaChannel channel) {
        return new ManagementBean("a data channel", channel::statistics)
                .with("Name", String.class, "its name in messages", channel::name)
                .with("InFlight", int.class, "operations that were accepted and have not ended", channel::inFlight)
                .with("Open", boolean.class, "whether operations are accepted", channel::isOpen);
    }

    @Override
    public void opened(PeerConnection endPoint) {
        List<ObjectName> names = new CopyOnWriteArrayList<>();
        ofEndPoints.put(endPoint, names);
        String id = "session=" + session + ",id=" + endPoint.number();
        register(of(endPoint), "EndPoint," + id, endPoint.name(), names);
        for (RdmaChannel channel : endPoint.data()) {
            register(
                    of(channel),
                    "Channel,session=" + session + ",endPoint=" + endPoint.number() + ",id=" + channel.index(),
                    channel.name(),
                    names);
        }
    }

    private void register(ManagementBean bean, String type, String name, List<ObjectName> names) {
        try {
            ObjectName full = new ObjectName(DOMAIN + type + ",name=" + ObjectName.quote(name));
            server.registerMBean(bean, full);
            names.add(full);
        } catch (JMException | RuntimeException e) {
            log("registering the management bean of " + name, e);
        }
    }

    @Override
    public void closed(PeerConnection endPoint) {
        List<ObjectName> names = ofEndPoints.remove(endPoint);
        if (names != null) {
            unregister(names);
        }
    }

    private void unregister(List<ObjectName> names) {
        for (ObjectName name : names) {
            try {
                server.unregisterMBean(name);
            } catch (InstanceNotFoundException e) {
                // Another thread has already done so.
            } catch (JMException | RuntimeException e) {
                // If the bean server refuses one name, the others must still be unregistered.
                log("unregistering " + name, e);
            }
        }
    }

    private static void log(String what, Exception why) {
        SafeLogger.ofPackage(SessionBeans.class).log(Level.WARNING, what + " failed", why);
    }

    @Override
    public void close() {
        ofEndPoints.values().forEach(this::unregister);
        ofEndPoints.clear();
        unregister(ofSession);
    }
}
