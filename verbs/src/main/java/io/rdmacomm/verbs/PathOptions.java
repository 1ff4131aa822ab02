package io.rdmacomm.verbs;

/// The local end of a connection and the headers of its packets (ibv_modify_qp(3), `struct ibv_ah_attr`).
///
/// @param port the local port, counted from 1
/// @param gidIndex the index of the local GID in the port's table, or [#AUTOMATIC_GID]
/// @param mtu the largest packet payload; lowered to what both ports support and the peer wants, if the peer was told
///         with [QueuePair#info(PathOptions)]
/// @param serviceLevel InfiniBand service level, 0 to 15
/// @param trafficClass IPv6 traffic class or IPv4 type of service, 0 to 255
/// @param hopLimit how many routers a packet may cross, 0 to 255
/// @param partitionKeyIndex the index in the port's table of partition keys; an entry of both ports must hold the
///         same key
/// @param sourcePathBits see [AddressVector#sourcePathBits()]
/// @param staticRate see [AddressVector#staticRate()]
public record PathOptions(
        int port,
        int gidIndex,
        PathMtu mtu,
        int serviceLevel,
        int trafficClass,
        int hopLimit,
        int partitionKeyIndex,
        int sourcePathBits,
        int staticRate) {
    /// The GID index that stands for the port's [Context#preferredGidIndex(int)].
    public static final int AUTOMATIC_GID = -1;

    /// Checks the ranges that do not depend on the port.
    public PathOptions {
        Checks.range("partition key index", partitionKeyIndex, 0, 0xffff);
        Checks.range("source path bits", sourcePathBits, 0, 127);
        Checks.range("static rate", staticRate, 0, 31);
    }

    /// Partition key 0, from the port's only LID, at the speed of the local port.
    public PathOptions(int port, int gidIndex, PathMtu mtu, int serviceLevel, int trafficClass, int hopLimit) {
        this(port, gidIndex, mtu, serviceLevel, trafficClass, hopLimit, 0, 0, 0);
    }

    /// Port 1 with its preferred GID, MTU 4096, service level and traffic class 0, at most 64 hops, partition key 0.
    public static PathOptions defaults() {
        return new PathOptions(1, AUTOMATIC_GID, PathMtu.MTU_4096, 0, 0, 64);
    }

    AddressVector to(Gid gid, int lid, int ownGidIndex) {
        return new AddressVector(
                gid, lid, ownGidIndex, port, serviceLevel, trafficClass, hopLimit, 0, sourcePathBits, staticRate);
    }

    /// These options with another port and GID index.
    ///
    /// @param number the port, counted from 1
    /// @param index the index in its GID table, or [#AUTOMATIC_GID]
    public PathOptions withPort(int number, int index) {
        return new PathOptions(
                number,
                index,
                mtu,
                serviceLevel,
                trafficClass,
                hopLimit,
                partitionKeyIndex,
                sourcePathBits,
                staticRate);
    }

    /// These options with another largest packet payload.
    public PathOptions withMtu(PathMtu value) {
        return new PathOptions(
                port,
                gidIndex,
                value,
                serviceLevel,
                trafficClass,
                hopLimit,
                partitionKeyIndex,
                sourcePathBits,
                staticRate);
    }

    /// These options with another service level and traffic class.
    public PathOptions withQuality(int level, int traffic) {
        return new PathOptions(
                port, gidIndex, mtu, level, traffic, hopLimit, partitionKeyIndex, sourcePathBits, staticRate);
    }

    /// These options with another partition key ([Context#partitionKey(int, int)]).
    ///
    /// @param index the index in the port's table, 0 to 65535
    public PathOptions withPartitionKeyIndex(int index) {
        return new PathOptions(
                port, gidIndex, mtu, serviceLevel, trafficClass, hopLimit, index, sourcePathBits, staticRate);
    }

    /// These options with another path of an InfiniBand subnet.
    ///
    /// @param pathBits see [AddressVector#sourcePathBits()]
    /// @param rate see [AddressVector#staticRate()]
    public PathOptions withSubnetPath(int pathBits, int rate) {
        return new PathOptions(
                port, gidIndex, mtu, serviceLevel, trafficClass, hopLimit, partitionKeyIndex, pathBits, rate);
    }
}
