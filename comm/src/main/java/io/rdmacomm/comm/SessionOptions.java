package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.verbs.AccessFlag;
import java.util.Set;

/// How a session is made. Immutable: every `with` method returns changed options.
///
/// ```java
/// SessionOptions options = SessionOptions.defaults().withAddress("node7", 2020).withWorkMode(WorkMode.POLLING);
/// ```
public final class SessionOptions {
    private static final SessionOptions DEFAULTS = new SessionOptions();

    private String name = "";
    private String device = "";
    private String host = "";
    private int port = 2020;
    private WorkMode workMode = WorkMode.ADAPTIVE;
    private ThreadMode threadMode = ThreadMode.PER_QUEUE_PAIR;
    private int channels = 1;
    private int maxChannels = 64;
    private ChannelOptions channel = ChannelOptions.defaults();
    private ChannelConfigurer configurer = (index, proposed) -> proposed;
    private Deadlines deadlines = Deadlines.defaults();
    private boolean waitForServer;
    private SetUp setUp = SetUp.AUTOMATIC;
    private int connectionPort;
    private Set<AccessFlag> access = Set.copyOf(AccessFlag.allRemote());
    private SessionListener listener = SessionListener.NONE;

    private SessionOptions() {}

    private SessionOptions(SessionOptions other) {
        name = other.name;
        device = other.device;
        host = other.host;
        port = other.port;
        workMode = other.workMode;
        threadMode = other.threadMode;
        channels = other.channels;
        maxChannels = other.maxChannels;
        channel = other.channel;
        configurer = other.configurer;
        deadlines = other.deadlines;
        waitForServer = other.waitForServer;
        setUp = other.setUp;
        connectionPort = other.connectionPort;
        access = other.access;
        listener = other.listener;
    }

    /// The first device that can be used, port 2020 (a server on all addresses, a client to this host),
    /// ADAPTIVE, PER_QUEUE_PAIR, one data channel with [ChannelOptions#defaults()], [Deadlines#defaults()],
    /// AUTOMATIC set-up, every right on buffers, no listener.
    public static SessionOptions defaults() {
        return DEFAULTS;
    }

    /// What the peer is told about who this is, at most 128 characters; empty for the role and the process
    /// number.
    public String name() {
        return name;
    }

    /// The name of the device; empty for the first one, hardware before software, that can be opened, connects
    /// as [#setUp()] says, by numbers if it says nothing, and whose port is active.
    public String device() {
        return device;
    }

    /// For a server, the address it listens on, empty for all; for a client, the server's host, empty for this
    /// host. A name, an IPv4 or an IPv6 address.
    public String host() {
        return host;
    }

    /// The server's TCP port; 0 lets a server take any free one.
    public int port() {
        return port;
    }

    /// How library threads and blocking calls wait for completions of data channels.
    public WorkMode workMode() {
        return workMode;
    }

    /// Which threads look for completions of data channels.
    public ThreadMode threadMode() {
        return threadMode;
    }

    /// How many data channels a client asks for.
    public int channels() {
        return channels;
    }

    /// How many data channels a server grants one client at the most.
    public int maxChannels() {
        return maxChannels;
    }

    /// How data channels are made.
    public ChannelOptions channel() {
        return channel;
    }

    /// What has the last word on each data channel's options.
    public ChannelConfigurer configurer() {
        return configurer;
    }

    /// How long waits last at the most.
    public Deadlines deadlines() {
        return deadlines;
    }

    /// Whether a client that is refused tries again until the connect deadline.
    public boolean waitForServer() {
        return waitForServer;
    }

    /// How the queue pairs find those of the peer.
    public SetUp setUp() {
        return setUp;
    }

    /// The port of the server's connection manager: the second one that clients connect to, where the
    /// connection manager connects queue pairs. For a server, the port it listens on, 0 for any free one; for a
    /// client, the port it connects to, 0 for the one that the server says.
    public int connectionPort() {
        return connectionPort;
    }

    /// What may be done to buffers that name no rights of their own.
    public Set<AccessFlag> access() {
        return access;
    }

    /// What is told about end points.
    public SessionListener listener() {
        return listener;
    }

    /// These options with another name of this side.
    ///
    /// @throws IllegalArgumentException if it has more than 128 characters or control characters
    public SessionOptions withName(String value) {
        SessionOptions copy = new SessionOptions(this);
        copy.name = Bounds.text("session name", value, 128);
        return copy;
    }

    /// These options with another device.
    public SessionOptions withDevice(String value) {
        SessionOptions copy = new SessionOptions(this);
        copy.device = value;
        return copy;
    }

    /// These options with another host and port.
    ///
    /// @throws IllegalArgumentException if the port is not 0 to 65535
    public SessionOptions withAddress(String newHost, int newPort) {
        SessionOptions copy = new SessionOptions(this);
        copy.host = Bounds.text("host", newHost, 255);
        copy.port = Bounds.range("port", newPort, 0, 65535);
        return copy;
    }

    /// These options with another port.
    ///
    /// @throws IllegalArgumentException if it is not 0 to 65535
    public SessionOptions withPort(int value) {
        return withAddress(host, value);
    }

    /// These options with another way to wait.
    public SessionOptions withWorkMode(WorkMode value) {
        SessionOptions copy = new SessionOptions(this);
        copy.workMode = value;
        return copy;
    }

    /// These options with another use of threads.
    public SessionOptions withThreadMode(ThreadMode value) {
        SessionOptions copy = new SessionOptions(this);
        copy.threadMode = value;
        return copy;
    }

    /// These options with another number of data channels.
    ///
    /// @throws IllegalArgumentException if it is not 1 to 256
    public SessionOptions withChannels(int value) {
        SessionOptions copy = new SessionOptions(this);
        copy.channels = Bounds.range("number of data channels", value, 1, 256);
        return copy;
    }

    /// These options with another limit for the data channels of one client.
    ///
    /// @throws IllegalArgumentException if it is not 1 to 256
    public SessionOptions withMaxChannels(int value) {
        SessionOptions copy = new SessionOptions(this);
        copy.maxChannels = Bounds.range("limit of data channels", value, 1, 256);
        return copy;
    }

    /// These options with other options for data channels.
    public SessionOptions withChannel(ChannelOptions value) {
        SessionOptions copy = new SessionOptions(this);
        copy.channel = value;
        return copy;
    }

    /// These options with another last word on each data channel.
    public SessionOptions withConfigurer(ChannelConfigurer value) {
        SessionOptions copy = new SessionOptions(this);
        copy.configurer = value;
        return copy;
    }

    /// These options with other deadlines.
    public SessionOptions withDeadlines(Deadlines value) {
        SessionOptions copy = new SessionOptions(this);
        copy.deadlines = value;
        return copy;
    }

    /// These options with repeated attempts, or only one, of a client that is refused.
    public SessionOptions withWaitForServer(boolean value) {
        SessionOptions copy = new SessionOptions(this);
        copy.waitForServer = value;
        return copy;
    }

    /// These options with another way for queue pairs to find those of the peer. By connection manager, the TCP
    /// address that the client connects to has to be one that the server's device is reached by.
    public SessionOptions withSetUp(SetUp value) {
        SessionOptions copy = new SessionOptions(this);
        copy.setUp = value;
        return copy;
    }

    /// These options with another port of the server's connection manager, and, unless it is 0, with
    /// [SetUp#CONNECTION_MANAGER]. A server behind a firewall or a port forward needs one, so that both of its
    /// ports can be let through; [#port()] is the other. All its clients share it. Clients connect to the
    /// address that they have reached the server at, whatever its own is, so that a client names a port only
    /// where the forward changes the number. On InfiniBand and RoCE it is a port of the connection manager and
    /// none of TCP.
    ///
    /// @throws IllegalArgumentException if it is not 0 to 65535
    public SessionOptions withConnectionPort(int value) {
        SessionOptions copy = new SessionOptions(this);
        copy.connectionPort = Bounds.range("connection port", value, 0, 65535);
        if (value != 0) {
            copy.setUp = SetUp.CONNECTION_MANAGER;
        }
        return copy;
    }

    /// These options with other rights on buffers.
    public SessionOptions withAccess(Set<AccessFlag> value) {
        SessionOptions copy = new SessionOptions(this);
        copy.access = Set.copyOf(value);
        return copy;
    }

    /// These options with another listener.
    public SessionOptions withListener(SessionListener value) {
        SessionOptions copy = new SessionOptions(this);
        copy.listener = value;
        return copy;
    }
}
