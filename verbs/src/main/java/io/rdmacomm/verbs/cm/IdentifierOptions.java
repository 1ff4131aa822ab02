package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.PathOptions;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/// The options of a communication identifier (rdma_set_option(3)), and the local address that it is bound to. They
/// replace choices of the system. Immutable.
public final class IdentifierOptions {
    private static final IdentifierOptions NONE =
            new IdentifierOptions(new Values(OptionalInt.empty(), false, false, null));
    private static final int HIGHEST_TYPE = 255;

    private final Values values;

    private record Values(
            OptionalInt typeOfService,
            boolean reuseAddress,
            boolean addressFamilyOnly,
            @Nullable InetSocketAddress localAddress) {}

    private IdentifierOptions(Values values) {
        this.values = values;
    }

    /// The defaults of the system.
    public static IdentifierOptions none() {
        return NONE;
    }

    /// The options with the traffic class of a path. If it is the default of [PathOptions], the system chooses it.
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
        if (value < 0 || value > HIGHEST_TYPE) {
            throw new IllegalArgumentException("type of service must be 0 to " + HIGHEST_TYPE + ", not " + value);
        }
        return new IdentifierOptions(
                new Values(OptionalInt.of(value), values.reuseAddress, values.addressFamilyOnly, values.localAddress));
    }

    /// These options with or without sharing the port; see [#reuseAddress()].
    public IdentifierOptions withReuseAddress(boolean reuse) {
        return new IdentifierOptions(
                new Values(values.typeOfService, reuse, values.addressFamilyOnly, values.localAddress));
    }

    /// These options for one address family or for both; see [#addressFamilyOnly()].
    public IdentifierOptions withAddressFamilyOnly(boolean only) {
        return new IdentifierOptions(new Values(values.typeOfService, values.reuseAddress, only, values.localAddress));
    }

    /// These options with a local address to connect from (rdma_bind_addr(3)).
    ///
    /// @param address an address of the device, or the wildcard address for any; port 0 for any free one
    public IdentifierOptions withLocalAddress(InetSocketAddress address) {
        Objects.requireNonNull(address, "local address");
        return new IdentifierOptions(
                new Values(values.typeOfService, values.reuseAddress, values.addressFamilyOnly, address));
    }

    /// The IPv4 type of service or IPv6 traffic class of the packets, 0 to 255 (`RDMA_OPTION_ID_TOS`); empty
    /// for that of the system. On InfiniBand and RoCE the connecting side chooses it for both: its request
    /// contains it. On iWARP each side chooses it for its own packets.
    public OptionalInt typeOfService() {
        return values.typeOfService;
    }

    /// Whether the port may be shared with other identifiers with this option, as long as only one listens
    /// (`RDMA_OPTION_ID_REUSEADDR`).
    public boolean reuseAddress() {
        return values.reuseAddress;
    }

    /// Whether the IPv6 wildcard address covers IPv6 addresses only, so that another identifier can listen on
    /// the same port for IPv4 (`RDMA_OPTION_ID_AFONLY`).
    public boolean addressFamilyOnly() {
        return values.addressFamilyOnly;
    }

    /// The local address to connect from; null if the system chooses it. Listening ignores it.
    public @Nullable InetSocketAddress localAddress() {
        return values.localAddress;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IdentifierOptions that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return "IdentifierOptions" + values;
    }
}
