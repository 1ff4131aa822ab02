package io.rdmacomm.verbs.spi;

/// An address handle ([io.rdmacomm.verbs.AddressHandle]). Thread-safe.
public interface AddressHandleDriver extends Driver {
    /// The number by which the provider finds it, as in work requests ([SendRequestLayout#ADDRESS_HANDLE]):
    /// the address of the C struct if there is one.
    long handle();
}
