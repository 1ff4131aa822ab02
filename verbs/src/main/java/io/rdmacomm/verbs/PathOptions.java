package io.rdmacomm.verbs;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// The local end of a connection and the headers of its packets (ibv_modify_qp(3), `struct ibv_ah_attr`). Immutable.
public final class PathOptions extends ValueObject<PathOptions> {
    private static final PathOptions DEFAULTS = new PathOptions();

    private int port = 1;
    private OptionalInt gidIndex = OptionalInt.empty();
    private PathMtu mtu = PathMtu.MTU_4096;
    private int serviceLevel;
    private int trafficClass;
    private int hopLimit = 64;
    private int partitionKeyIndex;
    private int sourcePathBits;
    private int staticRate;

    private PathOptions() {}

    /// Port 1 with its preferred GID, MTU 4096, service level and traffic class 0, at most 64 hops, partition key 0,
    /// from the port's only LID, at the speed of the local port.
    public static PathOptions defaults() {
        return DEFAULTS;
    }

    AddressVector to(Gid gid, int lid, int ownGidIndex) {
        return new AddressVector(
                gid, lid, ownGidIndex, port, serviceLevel, trafficClass, hopLimit, 0, sourcePathBits, staticRate);
    }

    /// These options with another port, counted from 1.
    public PathOptions withPort(int number) {
        return with(copy -> copy.port = number);
    }

    /// These options with this entry of the port's GID table, instead of [Context#preferredGidIndex(int)].
    public PathOptions withGidIndex(int index) {
        return with(copy -> copy.gidIndex = OptionalInt.of(index));
    }

    /// These options with another largest packet payload.
    public PathOptions withMtu(PathMtu value) {
        return with(copy -> copy.mtu = value);
    }

    /// These options with another service level and traffic class.
    public PathOptions withQuality(int level, int traffic) {
        return with(copy -> {
            copy.serviceLevel = level;
            copy.trafficClass = traffic;
        });
    }

    /// These options with another number of routers that a packet may cross, 0 to 255.
    public PathOptions withHopLimit(int routers) {
        return with(copy -> copy.hopLimit = routers);
    }

    /// These options with another partition key ([Context#partitionKey(int, int)]).
    ///
    /// @param index the index in the port's table, 0 to 65535
    public PathOptions withPartitionKeyIndex(int index) {
        return with(copy -> copy.partitionKeyIndex = index);
    }

    /// These options with another path of an InfiniBand subnet.
    ///
    /// @param pathBits see [AddressVector#sourcePathBits()]
    /// @param rate see [AddressVector#staticRate()]
    public PathOptions withSubnetPath(int pathBits, int rate) {
        return with(copy -> {
            copy.sourcePathBits = pathBits;
            copy.staticRate = rate;
        });
    }

    /// The local port, counted from 1.
    public int port() {
        return port;
    }

    /// The index of the local GID in the port's table; empty for the port's [Context#preferredGidIndex(int)].
    public OptionalInt gidIndex() {
        return gidIndex;
    }

    /// The largest packet payload; reduced to the limits of both ports and of the peer, if it was sent to the
    /// peer with [QueuePair#info(PathOptions)].
    public PathMtu mtu() {
        return mtu;
    }

    /// InfiniBand service level, 0 to 15.
    public int serviceLevel() {
        return serviceLevel;
    }

    /// IPv6 traffic class or IPv4 type of service, 0 to 255.
    public int trafficClass() {
        return trafficClass;
    }

    /// The number of routers that a packet may cross, 0 to 255.
    public int hopLimit() {
        return hopLimit;
    }

    /// The index in the port's table of partition keys; an entry of both ports must hold the same key.
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /// See [AddressVector#sourcePathBits()].
    public int sourcePathBits() {
        return sourcePathBits;
    }

    /// See [AddressVector#staticRate()].
    public int staticRate() {
        return staticRate;
    }

    /// Checks the values that do not depend on the port.
    @Override
    void check() {
        Checks.range("GID index", gidIndex.orElse(0), 0, 255);
        Checks.range("partition key index", partitionKeyIndex, 0, 0xffff);
        Checks.range("source path bits", sourcePathBits, 0, 127);
        Checks.range("static rate", staticRate, 0, 31);
    }

    @Override
    @Nullable
    Object[] fields() {
        return new Object[] {
            "port",
            port,
            "gidIndex",
            gidIndex,
            "mtu",
            mtu,
            "serviceLevel",
            serviceLevel,
            "trafficClass",
            trafficClass,
            "hopLimit",
            hopLimit,
            "partitionKeyIndex",
            partitionKeyIndex,
            "sourcePathBits",
            sourcePathBits,
            "staticRate",
            staticRate
        };
    }
}
