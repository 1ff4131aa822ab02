package io.rdmacomm.verbs;

import java.io.Serial;

/// The device does not support an operation. Check [Context#supports(Capability)] first.
public final class UnsupportedVerbException extends VerbException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Capability capability;

    /// A call needed a capability that the device does not have.
    ///
    /// @param operation the call in words, with its C name
    /// @param capability the capability that is missing
    /// @param device the device's name
    public UnsupportedVerbException(String operation, Capability capability, String device) {
        this(operation, capability, device, "");
    }

    /// A call needed a capability that the device does not have, for a known reason.
    ///
    /// @param operation the call in words, with its C name
    /// @param capability the capability that is missing
    /// @param device the device's name
    /// @param reason why it is missing, and what to do; empty if there is nothing to add
    public UnsupportedVerbException(String operation, Capability capability, String device, String reason) {
        super(
                operation,
                Errno.EOPNOTSUPP,
                "device " + device + " does not support " + capability
                        + (reason.isEmpty()
                                ? "; check Context.supports(Capability." + capability + ") first"
                                : ": " + reason));
        this.capability = capability;
    }

    /// The missing capability.
    public Capability capability() {
        return capability;
    }
}
