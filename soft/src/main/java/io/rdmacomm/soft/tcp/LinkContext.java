package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.memory.LocalMemory;
import java.util.function.IntConsumer;

/// The objects that all links of a context share.
///
/// @param memory that the context has registered
/// @param engineLinks has the engine drive links that no thread polls
/// @param counters of links and how they ended
/// @param traffic of all links
/// @param closing ends connections
/// @param onLimit called with the number of a shared receive queue that fell below its limit
record LinkContext(
        LocalMemory memory,
        EngineLinks engineLinks,
        LinkCounters counters,
        TrafficCounters traffic,
        LingeringClose closing,
        IntConsumer onLimit) {}
