package io.rdmacomm.comm;

import io.rdmacomm.verbs.ProtectionDomain;

/// What the operations of a channel have to keep to.
///
/// @param domain the protection domain that local buffers must be registered in
/// @param endPoint the number of the end point that remote buffers must be of
/// @param maxMessage the longest message that the peer receives, in bytes
/// @param maxTransfer the longest WRITE or READ of the device, in bytes
/// @param inlineBytes the longest payload that is copied when it is posted
/// @param fenced whether all but READs wait for the READs before them
/// @param unacknowledged whether an operation may end before it has arrived at the peer
record ChannelRules(
        ProtectionDomain domain,
        long endPoint,
        int maxMessage,
        long maxTransfer,
        int inlineBytes,
        boolean fenced,
        boolean unacknowledged) {}
