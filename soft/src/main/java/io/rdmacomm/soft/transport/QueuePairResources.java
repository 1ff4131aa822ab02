package io.rdmacomm.soft.transport;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.verbs.QueuePairType;

/// The objects of a queue pair that its transport uses.
///
/// @param number of the queue pair
/// @param domain number of its protection domain
/// @param type reliable or unreliable
/// @param block shows its state and its rights to peers on this host
/// @param sends the waiting requests, and their completion
/// @param receives for the messages of the peer
/// @param windowRequests executes requests on local memory windows
/// @param destination the numbers of the peer
/// @param retries makes the engine retry requests that must wait
/// @param lock of the sends
/// @param events receives the transport's notes
public record QueuePairResources(
        int number,
        int domain,
        QueuePairType type,
        QueuePairBlock block,
        RequestQueue sends,
        ReceiveQueue receives,
        WindowRequests windowRequests,
        Destination destination,
        RetryTimer retries,
        SendLock lock,
        Transport.Events events) {}
