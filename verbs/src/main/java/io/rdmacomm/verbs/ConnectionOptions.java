package io.rdmacomm.verbs;

import java.util.Set;

/// How [QueuePair#connect(QueuePairInfo, ConnectionOptions)] brings a queue pair up (ibv_modify_qp(3)).
///
/// @param port the local port, counted from 1
/// @param gidIndex index of the own identifier in the port's GID table, or [#AUTOMATIC_GID]
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
    /// The GID index that stands for [Context#preferredGidIndex(int)] of the port.
    public static final int AUTOMATIC_GID = -1;

    /// Copies the set.
    public ConnectionOptions {
        accessFlags = Set.copyOf(accessFlags);
    }

    /// Port 1, the GID it prefers, every right for the peer, MTU 4096, time-out 14 (67 ms) with 7 retries, 7 RNR
    /// retries (for ever) of 0.64 ms, 16 READs and atomics each way.
    public static ConnectionOptions defaults() {
        return new ConnectionOptions(
                1, AUTOMATIC_GID, AccessFlag.allRemote(), PathMtu.MTU_4096, 14, 7, 7, 12, 16, 16, 0, 0, 64);
    }

    /// These options with other rights for the peer.
    public ConnectionOptions withAccessFlags(Set<AccessFlag> value) {
        Draft draft = new Draft(this);
        draft.accessFlags = value;
        return draft.options();
    }

    /// These options with another largest packet payload.
    public ConnectionOptions withPathMtu(PathMtu value) {
        Draft draft = new Draft(this);
        draft.pathMtu = value;
        return draft.options();
    }

    /// These options with another acknowledgement time-out and retry count.
    public ConnectionOptions withTimeout(int code, int retries) {
        Draft draft = new Draft(this);
        draft.timeout = code;
        draft.retryCount = retries;
        return draft.options();
    }

    /// These options with another receiver-not-ready retry count and timer code.
    public ConnectionOptions withReceiverNotReady(int retries, int timerCode) {
        Draft draft = new Draft(this);
        draft.rnrRetry = retries;
        draft.minRnrTimer = timerCode;
        return draft.options();
    }

    /// These options with another port and GID index.
    ///
    /// @param number the port, counted from 1
    /// @param index the position in its GID table, or [#AUTOMATIC_GID]
    public ConnectionOptions withPort(int number, int index) {
        Draft draft = new Draft(this);
        draft.port = number;
        draft.gidIndex = index;
        return draft.options();
    }

    /// These options with another number of outstanding READs and atomics, the same both ways.
    public ConnectionOptions withReadAtomic(int outstanding) {
        Draft draft = new Draft(this);
        draft.maxReadAtomic = outstanding;
        draft.maxDestinationReadAtomic = outstanding;
        return draft.options();
    }

    /// These options with another service level and traffic class.
    public ConnectionOptions withQuality(int level, int traffic) {
        Draft draft = new Draft(this);
        draft.serviceLevel = level;
        draft.trafficClass = traffic;
        return draft.options();
    }

    /// Options that are being changed.
    private static final class Draft {
        private int port;
        private int gidIndex;
        private Set<AccessFlag> accessFlags;
        private PathMtu pathMtu;
        private int timeout;
        private int retryCount;
        private int rnrRetry;
        private int minRnrTimer;
        private int maxReadAtomic;
        private int maxDestinationReadAtomic;
        private int serviceLevel;
        private int trafficClass;
        private final int hopLimit;

        Draft(ConnectionOptions from) {
            port = from.port;
            gidIndex = from.gidIndex;
            accessFlags = from.accessFlags;
            pathMtu = from.pathMtu;
            timeout = from.timeout;
            retryCount = from.retryCount;
            rnrRetry = from.rnrRetry;
            minRnrTimer = from.minRnrTimer;
            maxReadAtomic = from.maxReadAtomic;
            maxDestinationReadAtomic = from.maxDestinationReadAtomic;
            serviceLevel = from.serviceLevel;
            trafficClass = from.trafficClass;
            hopLimit = from.hopLimit;
        }

        ConnectionOptions options() {
            return new ConnectionOptions(
                    port,
                    gidIndex,
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
    }
}
