package io.rdmacomm.verbs;

import java.io.Serial;

/// The device cannot do this. [Context#supports(Capability)] says so beforehand.
public final class UnsupportedVerbException extends VerbException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final Capability capability;

    /// A call needed a capability that the device does not have.
    ///
    /// @param operation the call in words with its C name
    /// @param capability what the device would have to be able to do
    /// @param device the device's name
    public UnsupportedVerbException(String operation, Capability capability, String device) {
        this(operation, capability, device, "");
    }

    /// A call needed a capability that the device does not have for a reason that somebody can change.
    ///
    /// @param operation the call in words with its C name
    /// @param capability what the device would have to be able to do
    /// @param device the device's name
    /// @param reason why it cannot and what to do; empty if nothing can be done
    public UnsupportedVerbException(String operation, Capability capability, String device, String reason) {
        super(
                operation,
                Errno.EOPNOTSUPP,
                "device " + device + " has no " + capability
                        + (reason.isEmpty()
                                ? "; ask Context.supports(Capability." + capability + ") before"
                                : ": " + reason));
        this.capability = capability;
    }

    /// What the device lacks.
    public Capability capability() {
        return capability;
    }
}
