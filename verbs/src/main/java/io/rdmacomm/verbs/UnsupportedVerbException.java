package io.rdmacomm.verbs;

import java.io.Serial;

/// The device cannot do this. [Context#supports(Capability)] says so beforehand.
public final class UnsupportedVerbException extends RdmaException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Capability capability;

    /// A call needed a capability that the device does not have.
    ///
    /// @param operation the call in words with its C name
    /// @param capability what the device would have to be able to do
    /// @param device the device's name
    public UnsupportedVerbException(String operation, Capability capability, String device) {
        super(
                operation,
                Errno.EOPNOTSUPP,
                "device " + device + " has no " + capability + "; ask Context.supports(Capability." + capability
                        + ") before");
        this.capability = capability;
    }

    /// What the device lacks.
    public Capability capability() {
        return capability;
    }
}
