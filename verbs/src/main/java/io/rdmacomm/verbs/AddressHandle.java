package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.AddressHandleDriver;

/// The path to a peer for datagrams (`struct ibv_ah`, ibv_create_ah(3)). Keep it open until the sends that use it
/// have completed. Thread-safe.
public final class AddressHandle implements Resource {
    private final AddressHandleDriver driver;
    private final Lifetime lifetime;

    /// @param domain the lifetime of its protection domain
    AddressHandle(Lifetime domain, AddressHandleDriver driver) {
        this.driver = driver;
        this.lifetime = new Lifetime(this, domain, driver);
    }

    /// The number that identifies it in work requests.
    long handle() {
        return driver.handle();
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return driver.toString();
    }
}
