package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.UnsupportedVerbException;

/// The exception of default methods of drivers. The classes of [io.rdmacomm.verbs] check the capability first, so
/// users get it only if a driver claims a verb that it does not implement.
final class Unsupported {
    private Unsupported() {}

    static UnsupportedVerbException verb(Driver driver, String operation, Capability capability) {
        return new UnsupportedVerbException(operation, capability, driver.toString());
    }
}
