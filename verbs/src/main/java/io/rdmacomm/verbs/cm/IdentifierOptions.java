package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.PathOptions;
import org.jspecify.annotations.Nullable;

/// The options of a communication identifier (rdma_set_option(3)). They replace settings of the system.
/// Immutable.
///
/// @param typeOfService the IPv4 type of service or IPv6 traffic class of the packets, 0 to 255
///         (`RDMA_OPTION_ID_TOS`); null for that of the system. On InfiniBand and RoCE the side that
///         connects chooses it for both: its request says so to the listener. On iWARP each side chooses
///         for what it sends
/// @param reuseAddress whether the port may be one that another identifier with this option is bound to,
///         as long as only one listens (`RDMA_OPTION_ID_REUSEADDR`)
/// @param addressFamilyOnly whether the IPv6 wildcard address stands for IPv6 addresses alone, so that
///         another identifier can listen at the same port for IPv4 (`RDMA_OPTION_ID_AFONLY`)
public record IdentifierOptions(@Nullable Integer typeOfService, boolean reuseAddress, boolean addressFamilyOnly) {
    private static final IdentifierOptions NONE = new IdentifierOptions(null, false, false);
    private static final int HIGHEST_TYPE = 255;

    /// Checks the range.
    public IdentifierOptions {
        if (typeOfService != null && (typeOfService < 0 || typeOfService > HIGHEST_TYPE)) {
            throw new IllegalArgumentException(
                    "type of service must be 0 to " + HIGHEST_TYPE + ", not " + typeOfService);
        }
    }

    /// The settings of the system.
    public static IdentifierOptions none() {
        return NONE;
    }

    /// The options with the traffic class of a path. The system chooses one that is the default of [PathOptions].
    public static IdentifierOptions of(PathOptions path) {
        int trafficClass = path.trafficClass();
        return trafficClass == PathOptions.defaults().trafficClass() ? NONE : NONE.withTypeOfService(trafficClass);
    }

    /// These options with a type of service. Needs
    /// [io.rdmacomm.verbs.Capability#CONNECTION_TYPE_OF_SERVICE].
    ///
    /// @param value 0 to 255
    /// @throws IllegalArgumentException if it is out of its range
    public IdentifierOptions withTypeOfService(int value) {
        return new IdentifierOptions(value, reuseAddress, addressFamilyOnly);
    }

    /// These options with the address reused or not.
    public IdentifierOptions withReuseAddress(boolean reuse) {
        return new IdentifierOptions(typeOfService, reuse, addressFamilyOnly);
    }

    /// These options for one address family or for both.
    public IdentifierOptions withAddressFamilyOnly(boolean only) {
        return new IdentifierOptions(typeOfService, reuseAddress, only);
    }
}
