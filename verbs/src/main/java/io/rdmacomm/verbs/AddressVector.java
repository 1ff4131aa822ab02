package io.rdmacomm.verbs;

/// The path to a peer's port (`struct ibv_ah_attr`, ibv_create_ah(3)).
///
/// @param destinationGid the peer's global identifier; [Gid#NONE] inside one InfiniBand subnet
/// @param destinationLid the peer's local identifier, 16 bits
/// @param sourceGidIndex the index of the local identifier in the port's GID table
/// @param port the local port, counted from 1
/// @param serviceLevel InfiniBand service level, 0 to 15
/// @param trafficClass IPv6 traffic class or IPv4 type of service, 0 to 255
/// @param hopLimit the number of routers that a packet may cross, 0 to 255
/// @param flowLabel IPv6 flow label, 20 bits
/// @param sourcePathBits the low bits of the local LID that packets come from, 0 to 127; 0 except on an InfiniBand
///         port that has several LIDs ([PortAttributes#lidMask()])
/// @param staticRate the highest rate that the peer's end of an InfiniBand path supports, a code of
///         `enum ibv_rate`; 0 for the speed of the local port. Devices on Ethernet may ignore it
public record AddressVector(
        Gid destinationGid,
        int destinationLid,
        int sourceGidIndex,
        int port,
        int serviceLevel,
        int trafficClass,
        int hopLimit,
        int flowLabel,
        int sourcePathBits,
        int staticRate) {
    /// Checks the ranges.
    public AddressVector {
        Checks.range("destination LID", destinationLid, 0, 0xffff);
        Checks.range("source GID index", sourceGidIndex, 0, 255);
        Checks.range("port", port, 1, 255);
        Checks.range("service level", serviceLevel, 0, 15);
        Checks.range("traffic class", trafficClass, 0, 255);
        Checks.range("hop limit", hopLimit, 0, 255);
        Checks.range("flow label", flowLabel, 0, 0xfffff);
        Checks.range("source path bits", sourcePathBits, 0, 127);
        Checks.range("static rate", staticRate, 0, 31);
    }

    /// A path from the port's only LID, at the speed of the local port.
    public AddressVector(
            Gid destinationGid,
            int destinationLid,
            int sourceGidIndex,
            int port,
            int serviceLevel,
            int trafficClass,
            int hopLimit,
            int flowLabel) {
        this(
                destinationGid,
                destinationLid,
                sourceGidIndex,
                port,
                serviceLevel,
                trafficClass,
                hopLimit,
                flowLabel,
                0,
                0);
    }

    /// Whether packets carry a global routing header. On Ethernet they always do.
    public boolean isGlobal() {
        return !destinationGid.equals(Gid.NONE);
    }
}
