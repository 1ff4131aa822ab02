package io.rdmacomm.verbs;

import java.util.Set;

/// How [QueuePair#connect(QueuePairInfo, ConnectionOptions)] brings a queue pair up (ibv_modify_qp(3)).
///
/// @param port the local port, counted from 1
/// @param gidIndex index of the own identifier in the port's GID table
/// @param accessFlags what the peer may do through this queue pair
/// @param pathMtu the largest packet payload; lowered to what both ports can take
/// @param timeout acknowledgement time-out, 4.096 us times 2 to this power, 0 for ever
/// @param retryCount how often an unanswered request is repeated, 0 to 7
/// @param rnrRetry how often a request is repeated whose peer had no receive, 7 for ever
/// @param minRnrTimer the code of the time a peer waits after it met no receive; see [RnrTimer]
/// @param maxReadAtomic READs and atomics this side may have outstanding
/// @param maxDestinationReadAtomic READs and atomics the peer may have outstanding
/// @param serviceLevel InfiniBand service level
/// @param trafficClass IPv6 traffic class or IPv4 type of service
/// @param hopLimit how many routers the packets may cross
public record ConnectionOptions(
        int port,
        int gidIndex,
        Set<AccessFlag> accessFlags,
        PathMtu pathMtu,
        int timeout,
        int retryCount,
        int rnrRetry,
        int minRnrTimer,
        int maxReadAtomic,
        int maxDestinationReadAtomic,
        int serviceLevel,
        int trafficClass,
        int hopLimit) {
    /// Copies the set.
    public ConnectionOptions {
        accessFlags = Set.copyOf(accessFlags);
    }

    /// Port 1, GID index 0, every right for the peer, MTU 4096, time-out 14 (67 ms) with 7 retries, 7 RNR retries
    /// (for ever) of 0.64 ms, 16 READs and atomics each way.
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(1, 0, AccessFlag.allRemote(), PathMtu.MTU_4096, 14, 7, 7, 12, 16, 16, 0, 0, 64);
    }

    /// These options with other rights for the peer.
    public ConnectionOptions withAccessFlags(Set<AccessFlag> value) {
        return new ConnectionOptions(
                port,
                gidIndex,
                value,
                pathMtu,
                timeout,
                retryCount,
                rnrRetry,
                minRnrTimer,
                maxReadAtomic,
                maxDestinationReadAtomic,
                serviceLevel,
                trafficClass,
                hopLimit);
    }

    /// These options with another acknowledgement time-out and retry count.
    public ConnectionOptions withTimeout(int code, int retries) {
        return new ConnectionOptions(
                port,
                gidIndex,
                accessFlags,
                pathMtu,
                code,
                retries,
                rnrRetry,
                minRnrTimer,
                maxReadAtomic,
                maxDestinationReadAtomic,
                serviceLevel,
                trafficClass,
                hopLimit);
    }

    /// These options with another receiver-not-ready retry count and timer code.
    public ConnectionOptions withReceiverNotReady(int retries, int timerCode) {
        return new ConnectionOptions(
                port,
                gidIndex,
                accessFlags,
                pathMtu,
                timeout,
                retryCount,
                retries,
                timerCode,
                maxReadAtomic,
                maxDestinationReadAtomic,
                serviceLevel,
                trafficClass,
                hopLimit);
    }

    /// These options with another port and GID index.
    public ConnectionOptions withPort(int number, int index) {
        return new ConnectionOptions(
                number,
                index,
                accessFlags,
                pathMtu,
                timeout,
                retryCount,
                rnrRetry,
                minRnrTimer,
                maxReadAtomic,
                maxDestinationReadAtomic,
                serviceLevel,
                trafficClass,
                hopLimit);
    }

    /// These options with another number of outstanding READs and atomics, the same both ways.
    public ConnectionOptions withReadAtomic(int outstanding) {
        return new ConnectionOptions(
                port,
                gidIndex,
                accessFlags,
                pathMtu,
                timeout,
                retryCount,
                rnrRetry,
                minRnrTimer,
                outstanding,
                outstanding,
                serviceLevel,
                trafficClass,
                hopLimit);
    }
}
