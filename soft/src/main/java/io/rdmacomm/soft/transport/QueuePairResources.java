package io.rdmacomm.soft.transport;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.verbs.QueuePairType;

/// The objects of a queue pair that its transport works with.
///
/// @param number of the queue pair
/// @param domain number of its protection domain
/// @param type reliable or unreliable
/// @param block shows its state and its rights to peers on this host
/// @param sends the requests that wait, and their completion
/// @param receives for the messages of the peer
/// @param windowRequests executes the requests that concern this side only
/// @param destination the numbers of the peer
/// @param retries has the engine try again what must wait
/// @param lock of the sends
/// @param events receives the notes of the transport
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
