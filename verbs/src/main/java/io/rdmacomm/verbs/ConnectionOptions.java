package io.rdmacomm.verbs;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How [QueuePair#connect(QueuePairInfo, ConnectionOptions)] brings a queue pair up (ibv_modify_qp(3)). The
/// rights and the numbers of READs and atomics are upper limits, reduced to those that the device supports
/// ([Context#fitting(ConnectionOptions)]). An unreliable connection has no READs, atomics or retries, and
/// ignores these options.
public final class ConnectionOptions extends ValueObject<ConnectionOptions> {
    private static final ConnectionOptions DEFAULTS = new ConnectionOptions();

    private PathOptions path = PathOptions.defaults();
    private RetryOptions retries = RetryOptions.defaults();
    private Set<AccessFlag> accessFlags = Set.copyOf(AccessFlag.allRemote());
    private int maxReadAtomic = 16;
    private int maxDestinationReadAtomic = 16;

    private ConnectionOptions() {}

    /// The defaults of [PathOptions] and [RetryOptions], every right for the peer, 16 READs and atomics each way.
    public static ConnectionOptions defaults() {
        return DEFAULTS;
    }

    /// These options with another path.
    public ConnectionOptions withPath(PathOptions value) {
        return with(copy -> copy.path = value);
    }

    /// These options with other retries.
    public ConnectionOptions withRetries(RetryOptions value) {
        return with(copy -> copy.retries = value);
    }

    /// These options with other rights for the peer.
    public ConnectionOptions withAccessFlags(Set<AccessFlag> value) {
        return with(copy -> copy.accessFlags = Set.copyOf(value));
    }

    /// These options with another number of READs and atomics in flight, the same both ways.
    public ConnectionOptions withReadAtomic(int inFlight) {
        return withReadAtomic(inFlight, inFlight);
    }

    /// These options with another acknowledgement timeout; see [RetryOptions#withTimeout(Duration, int)].
    public ConnectionOptions withTimeout(Duration atLeast, int retryCount) {
        return withRetries(retries.withTimeout(atLeast, retryCount));
    }

    /// These options with other numbers of READs and atomics in flight.
    ///
    /// @param own the number for this side
    /// @param peers the number for the peer
    public ConnectionOptions withReadAtomic(int own, int peers) {
        return with(copy -> {
            copy.maxReadAtomic = own;
            copy.maxDestinationReadAtomic = peers;
        });
    }

    /// The local port and the headers of the packets.
    public PathOptions path() {
        return path;
    }

    /// How requests are retried.
    public RetryOptions retries() {
        return retries;
    }

    /// The rights of the peer through this queue pair.
    public Set<AccessFlag> accessFlags() {
        return accessFlags;
    }

    /// READs and atomics that this side may have in flight.
    public int maxReadAtomic() {
        return maxReadAtomic;
    }

    /// READs and atomics that the peer may have in flight.
    public int maxDestinationReadAtomic() {
        return maxDestinationReadAtomic;
    }

    /// These options with other rights, and with no more READs and atomics in flight than the device allows.
    ConnectionOptions fitting(Set<AccessFlag> rights, DeviceAttributes attributes) {
        return withAccessFlags(rights)
                .withReadAtomic(
                        fitting(maxReadAtomic, attributes, DeviceLimit.MAX_INITIATOR_READ_ATOMIC),
                        fitting(maxDestinationReadAtomic, attributes, DeviceLimit.MAX_READ_ATOMIC));
    }

    private static int fitting(int wanted, DeviceAttributes attributes, DeviceLimit limit) {
        return (int) Math.min(wanted, attributes.limit(limit));
    }

    /// These options without the rights that an unreliable connection cannot use.
    ConnectionOptions withoutReads() {
        Set<AccessFlag> usable = EnumSet.noneOf(AccessFlag.class);
        usable.addAll(accessFlags);
        usable.remove(AccessFlag.REMOTE_READ);
        usable.remove(AccessFlag.REMOTE_ATOMIC);
        return withAccessFlags(usable);
    }

    QueuePairAttributes initialize() {
        return new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(path.partitionKeyIndex())
                .port(path.port())
                .accessFlags(accessFlags);
    }

    /// @param reliable whether to set the attributes of acknowledgements, which the state table forbids for
    ///         other connections
    /// @param gidIndex the index of the local GID
    /// @param portMtu the largest packet payload of the local port
    QueuePairAttributes readyToReceive(boolean reliable, QueuePairInfo remote, int gidIndex, PathMtu portMtu) {
        QueuePairAttributes change = new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(path.to(remote.gid(), remote.lid(), gidIndex))
                .pathMtu(path.mtu().min(portMtu).min(remote.mtu()))
                .destinationNumber(remote.number())
                .receivePsn(remote.packetSequenceNumber());
        return reliable
                ? change.maxDestinationReadAtomic(maxDestinationReadAtomic).minRnrTimer(retries.rnrTimer())
                : change;
    }

    /// @param reliable see [#readyToReceive]
    QueuePairAttributes readyToSend(boolean reliable, int packetSequenceNumber) {
        QueuePairAttributes change =
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(packetSequenceNumber);
        return reliable
                ? change.timeout(retries.timeout())
                        .retryCount(retries.retryCount())
                        .rnrRetry(retries.rnrRetry())
                        .maxReadAtomic(maxReadAtomic)
                : change;
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {
            "path",
            path,
            "retries",
            retries,
            "accessFlags",
            accessFlags,
            "maxReadAtomic",
            maxReadAtomic,
            "maxDestinationReadAtomic",
            maxDestinationReadAtomic
        };
    }
}
