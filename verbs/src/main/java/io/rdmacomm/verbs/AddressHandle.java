package io.rdmacomm.verbs;

/// The path to a peer for datagrams (`struct ibv_ah`, ibv_create_ah(3)). Keep it open until the sends that use it
/// have completed. Thread-safe.
public abstract class AddressHandle extends Resource {
    private final ProtectionDomain protectionDomain;

    /// For providers.
    protected AddressHandle(ProtectionDomain protectionDomain) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
    }

    /// The provider's handle: the address of the C struct if there is one.
    public abstract long handle();

    @Override
    public final String toString() {
        return "address handle on " + protectionDomain.context();
    }
}
