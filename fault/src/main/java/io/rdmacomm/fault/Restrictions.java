package io.rdmacomm.fault;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.util.Set;

/// The operations that the device does not support although the real device does.
///
/// @param lacking the missing capabilities
/// @param inlineBytes the longest inline payload of a queue pair
record Restrictions(Set<Capability> lacking, int inlineBytes) {
    static final Restrictions NONE = new Restrictions(Set.of(), Integer.MAX_VALUE);

    /// Rejects rights to operations that the device lacks, as some adapters do.
    void checkAccess(String call, int access) {
        if (AccessFlag.REMOTE_ATOMIC.in(access) && lacking.contains(Capability.ATOMICS)) {
            throw new VerbException(call, Errno.EOPNOTSUPP, "REMOTE_ATOMIC on a device without atomics");
        }
    }

    /// Rejects queue pairs with longer inline payloads.
    void checkInline(String call, int wanted) {
        if (wanted > inlineBytes) {
            throw new VerbException(call, Errno.EINVAL, wanted + " inline bytes, the device allows " + inlineBytes);
        }
    }
}
