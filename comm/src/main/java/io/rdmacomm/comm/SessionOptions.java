package io.rdmacomm.comm;

import static java.util.Objects.requireNonNull;

import io.rdmacomm.comm.SessionSettings.Addressing;
import io.rdmacomm.comm.SessionSettings.Buffers;
import io.rdmacomm.comm.SessionSettings.Channels;
import io.rdmacomm.comm.SessionSettings.Modes;
import io.rdmacomm.comm.SessionSettings.Trust;
import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.setup.TcpListener;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.PageSize;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The options of a session. Immutable: every `with` method returns a changed copy. A null value throws
/// [NullPointerException]; the `without` methods restore the default.
///
/// ```java
/// SessionOptions options = SessionOptions.defaults().withAddress("node7", 2020).withWorkMode(WorkMode.POLLING);
/// ```
public final class SessionOptions {
    private static final SessionOptions DEFAULTS = new SessionOptions(
            new SessionSettings(
                    "",
                    "",
                    new Addressing("", 2020, false, Setup.AUTOMATIC, 0, null),
                    new Modes(WorkMode.ADAPTIVE, null, 1, OptionalInt.empty()),
                    new Channels(1, 16, ChannelOptions.defaults(), (index, proposed) -> proposed, null),
                    new Trust(null, null, PeerLimits.defaults(), false),
                    Deadlines.defaults(),
                    new Buffers(Set.of(AccessFlag.LOCAL_WRITE), PageSize.NORMAL, Long.MAX_VALUE)),
            SessionListener.NONE);

    private final SessionSettings settings;
    private final SessionListener listener;

    private SessionOptions(SessionSettings settings, SessionListener listener) {
        this.settings = settings;
        this.listener = listener;
    }

    /// All values except the listener.
    SessionSettings settings() {
        return settings;
    }

    SessionOptions with(SessionSettings value) {
        return new SessionOptions(value, listener);
    }

    private SessionOptions with(Addressing value) {
        return with(settings.with(value));
    }

    private SessionOptions with(Modes value) {
        return with(settings.with(value));
    }

    private SessionOptions with(Channels value) {
        return with(settings.with(value));
    }

    private SessionOptions with(Trust value) {
        return with(settings.with(value));
    }

    private SessionOptions with(Buffers value) {
        return with(settings.with(value));
    }

    /// The first device that can be used, port 2020 of this host's loopback address, ADAPTIVE, SHARED_CQ for
    /// a server and PER_QUEUE_PAIR for a client, one data channel with [ChannelOptions#defaults()], at most
    /// 16 for each client of a server, [PeerLimits#defaults()], [Deadlines#defaults()], AUTOMATIC setup,
    /// local access to buffers, normal pages, no listener.
    public static SessionOptions defaults() {
        return DEFAULTS;
    }

    /// The name that is sent to the peer, at most 128 characters. If empty, the session makes one from its role and
    /// the process number.
    public String name() {
        return settings.name();
    }

    /// The name of the device. If empty, the session takes the first device, hardware before software, that can be
    /// opened, supports [#setup()] (by numbers if AUTOMATIC), and has an active port.
    public String device() {
        return settings.device();
    }

    /// A name, an IPv4 or an IPv6 address. For a server, the address it listens on: empty for loopback, which only
    /// this host can reach; `*` for all addresses. For a client, the server's host: empty or `*` for this host.
    public String host() {
        return settings.addressing().host();
    }

    /// The server's TCP port; 0 lets a server take any free one.
    public int port() {
        return settings.addressing().port();
    }

    /// How library threads and blocking calls wait for completions of data channels.
    public WorkMode workMode() {
        return settings.modes().work();
    }

    /// The threads that poll for completions of data channels; null if none was set. Then a server uses
    /// [ThreadMode#SHARED_CQ], so that clients cost no threads, and a client [ThreadMode#PER_QUEUE_PAIR]. The
    /// options of an open session contain the actual mode.
    public @Nullable ThreadMode threadMode() {
        return settings.modes().thread();
    }

    /// The number of completion queues and threads in the thread mode SHARED_CQ.
    public int completionThreads() {
        return settings.modes().threads();
    }

    /// The completion vector of all events; empty if they are spread over those of the device.
    public OptionalInt completionVector() {
        return settings.modes().vector();
    }

    /// The number of data channels that a client requests.
    public int channels() {
        return settings.data().count();
    }

    /// The largest number of data channels that a server grants one client.
    public int maxChannels() {
        return settings.data().most();
    }

    /// The options of data channels.
    public ChannelOptions channel() {
        return settings.data().each();
    }

    /// Makes the final decision on the options of each data channel.
    public ChannelConfigurer configurer() {
        return settings.data().configurer();
    }

    /// The receives that the data channels share; null if each has its own [ChannelOptions#receives()].
    public @Nullable SharedReceives sharedReceives() {
        return settings.data().receives();
    }

    /// The longest waits.
    public Deadlines deadlines() {
        return settings.deadlines();
    }

    /// Whether a refused client retries until the connect deadline.
    public boolean waitForServer() {
        return settings.addressing().waitForServer();
    }

    /// The options by which a client replaces a failed endpoint; null if it does not replace it.
    public @Nullable Reconnect reconnect() {
        return settings.addressing().reconnect();
    }

    /// How the queue pairs are connected.
    public Setup setup() {
        return settings.addressing().setup();
    }

    /// The port of the server's connection manager: the second one that clients connect to, if the connection
    /// manager connects queue pairs. For a server, the port it listens on, 0 for any free one; for a client,
    /// the port it connects to, 0 for the one that the server announces.
    public int connectionPort() {
        return settings.addressing().connectionPort();
    }

    /// The secret that both sides must have; null if any peer may connect.
    public @Nullable Secret secret() {
        return settings.trust().secret();
    }

    /// The TLS of the connections over which endpoints are set up; null for none.
    public @Nullable Tls tls() {
        return settings.trust().tls();
    }

    /// Limits for the resources that peers may use in this session.
    public PeerLimits limits() {
        return settings.trust().limits();
    }

    /// Whether queue pairs of peers may have addresses other than those of their TCP connections.
    public boolean foreignGids() {
        return settings.trust().foreignGids();
    }

    /// The limit for the memory that the session registers, in bytes; [Long#MAX_VALUE] without one.
    public long memoryLimit() {
        return settings.buffers().limit();
    }

    /// The access rights of buffers that are allocated without explicit rights: LOCAL_WRITE by default, so
    /// that no peer can use them before [EndPoint#announce(RdmaBuffer, Set)] has granted it rights.
    public Set<AccessFlag> access() {
        return settings.buffers().access();
    }

    /// The pages of buffers that are allocated.
    public PageSize pages() {
        return settings.buffers().pages();
    }

    /// The listener for endpoint events.
    public SessionListener listener() {
        return listener;
    }

    /// These options with another name of this side.
    ///
    /// @throws IllegalArgumentException if it has more than 128 characters, or unprintable ones
    public SessionOptions withName(String value) {
        return with(settings.withName(Bounds.text("session name", value, 128)));
    }

    /// These options with another device.
    public SessionOptions withDevice(String value) {
        return with(settings.withDevice(value));
    }

    /// These options with another host and port; see [#withHost].
    ///
    /// @throws IllegalArgumentException if the port is not 0 to 65535
    public SessionOptions withAddress(String newHost, int newPort) {
        return with(new Addressing(
                Bounds.text("host", newHost, 255),
                Bounds.range("port", newPort, 0, 65535),
                settings.addressing().waitForServer(),
                settings.addressing().setup(),
                settings.addressing().connectionPort(),
                settings.addressing().reconnect()));
    }

    /// These options with another host: for a server, the address it listens on; for a client, the server's.
    /// A server for clients on other hosts needs one, or [#withAllAddresses]; without [#withSecret] and
    /// [#withTls] anyone who reaches it can connect, and a warning is logged.
    ///
    /// @param value a name, an IPv4 or an IPv6 address; empty for loopback; `*` for a server on all addresses
    public SessionOptions withHost(String value) {
        return withAddress(value, settings.addressing().port());
    }

    /// These options with a server that listens on all addresses of its host; a client connects to this
    /// host. See [#withHost].
    public SessionOptions withAllAddresses() {
        return withHost(TcpListener.ALL_ADDRESSES);
    }

    /// These options with another port.
    ///
    /// @throws IllegalArgumentException if it is not 0 to 65535
    public SessionOptions withPort(int value) {
        return withAddress(settings.addressing().host(), value);
    }

    /// These options with another work mode.
    public SessionOptions withWorkMode(WorkMode value) {
        Modes modes = settings.modes();
        return with(new Modes(value, modes.thread(), modes.threads(), modes.vector()));
    }

    /// These options with another thread mode.
    public SessionOptions withThreadMode(ThreadMode value) {
        return withThreads(requireNonNull(value, "thread mode"));
    }

    /// These options with the default thread mode, which depends on the kind of session; see [#threadMode()].
    public SessionOptions withoutThreadMode() {
        return withThreads(null);
    }

    private SessionOptions withThreads(@Nullable ThreadMode value) {
        Modes modes = settings.modes();
        return with(new Modes(modes.work(), value, modes.threads(), modes.vector()));
    }

    /// These options with another number of completion queues and threads in the thread mode SHARED_CQ, for servers
    /// with more processors than one thread can use. Each endpoint belongs to one of them: that with the fewest
    /// endpoints when it was set up. Handlers of endpoints in different threads run at the same time. More than
    /// one in another thread mode makes opening the session fail with [IllegalArgumentException].
    ///
    /// @throws IllegalArgumentException if it is not 1 to 64
    public SessionOptions withCompletionThreads(int value) {
        Modes modes = settings.modes();
        int threads = Bounds.range("number of completion threads", value, 1, 64);
        return with(new Modes(modes.work(), modes.thread(), threads, modes.vector()));
    }

    /// These options with one completion vector of the device for all events of the session. Opening a session
    /// fails with EINVAL if the device has no such vector ([io.rdmacomm.verbs.DeviceLimit#COMPLETION_VECTORS]).
    ///
    /// @throws IllegalArgumentException if it is not 0 to 65535
    public SessionOptions withCompletionVector(int value) {
        return withVector(OptionalInt.of(Bounds.range("completion vector", value, 0, 65535)));
    }

    /// These options with events spread over all completion vectors of the device, the default.
    public SessionOptions withoutCompletionVector() {
        return withVector(OptionalInt.empty());
    }

    private SessionOptions withVector(OptionalInt value) {
        Modes modes = settings.modes();
        return with(new Modes(modes.work(), modes.thread(), modes.threads(), value));
    }

    /// These options with another number of data channels.
    ///
    /// @throws IllegalArgumentException if it is not 1 to 256
    public SessionOptions withChannels(int value) {
        return with(new Channels(
                Bounds.range("number of data channels", value, 1, 256),
                settings.data().most(),
                settings.data().each(),
                settings.data().configurer(),
                settings.data().receives()));
    }

    /// These options with another limit for the data channels of one client.
    ///
    /// @throws IllegalArgumentException if it is not 1 to 256
    public SessionOptions withMaxChannels(int value) {
        return with(new Channels(
                settings.data().count(),
                Bounds.range("limit of data channels", value, 1, 256),
                settings.data().each(),
                settings.data().configurer(),
                settings.data().receives()));
    }

    /// These options with other options for data channels.
    public SessionOptions withChannel(ChannelOptions value) {
        return with(settings.withChannel(value));
    }

    /// These options with another configurer for data channels.
    public SessionOptions withConfigurer(ChannelConfigurer value) {
        return with(new Channels(
                settings.data().count(),
                settings.data().most(),
                settings.data().each(),
                value,
                settings.data().receives()));
    }

    /// These options with one pool of receives for all data channels. The device needs
    /// [io.rdmacomm.verbs.Capability#SHARED_RECEIVE_QUEUE]; opening a session on another device throws
    /// [io.rdmacomm.verbs.UnsupportedVerbException].
    public SessionOptions withSharedReceives(SharedReceives value) {
        return with(new Channels(
                settings.data().count(),
                settings.data().most(),
                settings.data().each(),
                settings.data().configurer(),
                requireNonNull(value, "shared receives")));
    }

    /// These options with other deadlines.
    public SessionOptions withDeadlines(Deadlines value) {
        return with(settings.with(value));
    }

    /// These options with or without retries of a refused client.
    public SessionOptions withWaitForServer(boolean value) {
        return with(new Addressing(
                settings.addressing().host(),
                settings.addressing().port(),
                value,
                settings.addressing().setup(),
                settings.addressing().connectionPort(),
                settings.addressing().reconnect()));
    }

    /// These options with the replacement of a client's failed endpoint. The first connection is not affected: see
    /// [#withWaitForServer].
    public SessionOptions withReconnect(Reconnect value) {
        return withReplacement(requireNonNull(value, "reconnect"));
    }

    /// These options without the replacement of a client's failed endpoint, the default.
    public SessionOptions withoutReconnect() {
        return withReplacement(null);
    }

    private SessionOptions withReplacement(@Nullable Reconnect value) {
        return with(new Addressing(
                settings.addressing().host(),
                settings.addressing().port(),
                settings.addressing().waitForServer(),
                settings.addressing().setup(),
                settings.addressing().connectionPort(),
                value));
    }

    /// These options with another way to connect queue pairs. With the connection manager, the client must
    /// connect to a TCP address at which the server's RDMA device can be reached.
    public SessionOptions withSetup(Setup value) {
        return with(new Addressing(
                settings.addressing().host(),
                settings.addressing().port(),
                settings.addressing().waitForServer(),
                value,
                settings.addressing().connectionPort(),
                settings.addressing().reconnect()));
    }

    /// These options with another port of the server's connection manager, and, unless it is 0, with
    /// [Setup#CONNECTION_MANAGER]. A server behind a firewall or a port forward needs a fixed one, so that
    /// both of its ports can be opened; [#port()] is the other. All clients share it. Clients connect to the
    /// address at which they reached the server, so a client sets a port only if the forward changes the
    /// number. On InfiniBand and RoCE this port belongs to the connection manager, not to TCP.
    ///
    /// @throws IllegalArgumentException if it is not 0 to 65535
    public SessionOptions withConnectionPort(int value) {
        Bounds.range("connection port", value, 0, 65535);
        Setup how = value == 0 ? settings.addressing().setup() : Setup.CONNECTION_MANAGER;
        return with(new Addressing(
                settings.addressing().host(),
                settings.addressing().port(),
                settings.addressing().waitForServer(),
                how,
                value,
                settings.addressing().reconnect()));
    }

    /// These options with a secret that both sides must have. The sides authenticate each other before either
    /// sends its parameters or allocates resources. The secret decides who may connect; it does not encrypt or
    /// protect later traffic.
    public SessionOptions withSecret(Secret value) {
        return withProof(settings.trust().tls(), requireNonNull(value, "secret"));
    }

    /// These options without a secret, the default: any peer may connect.
    public SessionOptions withoutSecret() {
        return withProof(settings.trust().tls(), null);
    }

    /// These options with TLS on the TCP connections over which endpoints are set up. Both sides need it. The TLS
    /// handshake comes before everything else, including the proof of the secret ([#withSecret]). RDMA itself is
    /// not encrypted.
    public SessionOptions withTls(Tls value) {
        return withProof(requireNonNull(value, "TLS"), settings.trust().secret());
    }

    /// These options without TLS, the default.
    public SessionOptions withoutTls() {
        return withProof(null, settings.trust().secret());
    }

    private SessionOptions withProof(@Nullable Tls tls, @Nullable Secret secret) {
        return with(new Trust(
                tls, secret, settings.trust().limits(), settings.trust().foreignGids()));
    }

    /// These options with other limits for the resources that peers may use.
    public SessionOptions withLimits(PeerLimits value) {
        return with(new Trust(
                settings.trust().tls(),
                settings.trust().secret(),
                value,
                settings.trust().foreignGids()));
    }

    /// These options with or without peers whose queue pairs have an address other than that of their TCP
    /// connection. By default a software device refuses them, because it makes TCP connections to the address
    /// that a peer sends: a stranger could make it connect anywhere. Needed for peers behind address
    /// translation, or with several addresses; allow it only if all who can connect are trusted. Has no
    /// effect on other devices, whose GIDs need not be addresses, and with the connection manager.
    public SessionOptions withForeignGids(boolean value) {
        return with(new Trust(
                settings.trust().tls(),
                settings.trust().secret(),
                settings.trust().limits(),
                value));
    }

    /// These options with other rights on buffers: with [AccessFlag#allRemote()], every peer of the session that
    /// learns the key of a buffer can use the whole buffer, from its allocation on. [EndPoint#announce(RdmaBuffer)]
    /// sends the key.
    ///
    /// With [AccessFlag#RELAXED_ORDERING], the device may also reorder the bytes that arrive in the memory for
    /// received messages. Completions keep their meaning: it is safe to read messages, and to read a buffer after a
    /// completion or a message that reports it complete. A program that watches the memory of a buffer for the last
    /// byte of a WRITE must not use this right.
    public SessionOptions withAccess(Set<AccessFlag> value) {
        Buffers buffers = settings.buffers();
        return with(new Buffers(Set.copyOf(value), buffers.pages(), buffers.limit()));
    }

    /// These options with another kind of pages for buffers. A device without
    /// [io.rdmacomm.verbs.Capability#HUGE_PAGES] rejects huge pages, and if the system has too few free ones,
    /// allocating a buffer fails with ENOMEM.
    public SessionOptions withPages(PageSize value) {
        Buffers buffers = settings.buffers();
        return with(new Buffers(buffers.access(), value, buffers.limit()));
    }

    /// These options with a limit for the memory that the session registers: its buffers, the receives of its
    /// channels, and the little that the library needs itself. None by default. Beyond it, making a
    /// buffer fails with ENOMEM, and so does setting up an endpoint. Memory that is registered once
    /// more for a peer ([EndPoint#announce(RdmaBuffer, Set)]) counts once, although adapters lock it twice.
    ///
    /// @param bytes at least 1
    /// @throws IllegalArgumentException if it is less than 1
    public SessionOptions withMemoryLimit(long bytes) {
        Buffers buffers = settings.buffers();
        return with(
                new Buffers(buffers.access(), buffers.pages(), Bounds.range("memory limit", bytes, 1, Long.MAX_VALUE)));
    }

    /// These options with another listener.
    public SessionOptions withListener(SessionListener value) {
        return new SessionOptions(settings, requireNonNull(value, "listener"));
    }
}
