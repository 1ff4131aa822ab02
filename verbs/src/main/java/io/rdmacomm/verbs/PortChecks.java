package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.ContextDriver;

/// Checks the options of a program against the port, because drivers make different checks at different times.
final class PortChecks {
    private static final int KEY_BITS = 0x7fff;

    private final ContextDriver context;
    private final String operation;

    PortChecks(ContextDriver context, String operation) {
        this.context = context;
        this.operation = operation;
    }

    /// Rejects a partition key that the port does not have. The key at index 0 always exists.
    void partitionKey(int port, int index) {
        if (index == 0) {
            return;
        }
        int count = context.queryPort(port).partitionKeyTableLength;
        if (index >= count) {
            throw rejected("port " + port + " of " + context + " has no partition key " + index
                    + "; choose one of 0 to " + Math.max(0, count - 1));
        }
        // A key whose low bits are 0 is invalid (InfiniBand Architecture Specification, P_Key).
        if ((context.queryPartitionKey(port, index) & KEY_BITS) == 0) {
            throw rejected("partition key " + index + " of port " + port + " of " + context
                    + " is empty; choose another, or have the subnet manager set it");
        }
    }

    /// Rejects bits that do not select a LID of the port.
    void sourcePathBits(int port, int bits) {
        if (bits == 0) {
            return;
        }
        int lids = 1 << context.queryPort(port).lidMask;
        if (bits >= lids) {
            throw rejected("port " + port + " of " + context + " has no source path bits " + bits
                    + "; its LIDs allow 0 to " + (lids - 1));
        }
    }

    private VerbException rejected(String why) {
        return new VerbException(operation, Errno.EINVAL, why);
    }
}
