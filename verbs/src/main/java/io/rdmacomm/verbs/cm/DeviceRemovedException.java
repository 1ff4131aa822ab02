package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import java.io.Serial;

/// The device was removed (RDMA_CM_EVENT_DEVICE_REMOVAL).
public final class DeviceRemovedException extends ConnectionException {
    @Serial
    private static final long serialVersionUID = 1L;

    /// The failure.
    ///
    /// @param operation the call in words, with its C name
    /// @param errno the cause, as far as it is known
    /// @param detail what happened, to which address, and what to do
    public DeviceRemovedException(String operation, Errno errno, String detail) {
        super(operation, ConnectionEvent.DEVICE_REMOVAL, errno, detail);
    }
}
