package io.rdmacomm.comm;

import io.rdmacomm.comm.jmx.ChannelMXBean;
import io.rdmacomm.comm.jmx.EndPointMXBean;
import io.rdmacomm.comm.jmx.SessionMXBean;
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
import javax.management.StandardMBean;

/// Registers the management beans of one session, its endpoints and their channels with the platform's server. Their
/// names contain numbers, so that names may be used twice. The only class that needs the module java.management.
final class SessionBeans implements SessionObserver {
    private static final String DOMAIN = "io.rdmacomm:type=";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final long session;
    private final List<ObjectName> ofSession = new CopyOnWriteArrayList<>();
    private final Map<EndPoint, List<ObjectName>> ofEndPoints = new ConcurrentHashMap<>();

    /// @param number of the session, unique in this process
    SessionBeans(Session session, long number) {
        this.session = number;
        register(
                new StandardMBean(new SessionBean(session), SessionMXBean.class, true),
                "Session,id=" + number,
                session.name(),
                ofSession);
    }

    @Override
    public void opened(EndPoint endPoint) {
        List<ObjectName> names = new CopyOnWriteArrayList<>();
        ofEndPoints.put(endPoint, names);
        String id = "session=" + session + ",id=" + endPoint.number();
        register(
                new StandardMBean(new EndPointBean(endPoint), EndPointMXBean.class, true),
                "EndPoint," + id,
                endPoint.name(),
                names);
        for (RdmaChannel channel : endPoint.channels()) {
            register(
                    new StandardMBean(new ChannelBean(channel), ChannelMXBean.class, true),
                    "Channel,session=" + session + ",endPoint=" + endPoint.number() + ",id=" + channel.index(),
                    channel.name(),
                    names);
        }
    }

    private void register(StandardMBean bean, String type, String name, List<ObjectName> names) {
        try {
            ObjectName full = new ObjectName(DOMAIN + type + ",name=" + ObjectName.quote(name));
            server.registerMBean(bean, full);
            names.add(full);
        } catch (JMException e) {
            log("registering the management bean of " + name, e);
        }
    }

    @Override
    public void closed(EndPoint endPoint) {
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
                // Somebody else has done so.
            } catch (JMException e) {
                log("unregistering " + name, e);
            }
        }
    }

    private static void log(String what, JMException why) {
        SafeLogger.ofPackage(Session.class).log(Level.WARNING, what + " failed", why);
    }

    @Override
    public void close() {
        ofEndPoints.values().forEach(this::unregister);
        ofEndPoints.clear();
        unregister(ofSession);
    }
}
