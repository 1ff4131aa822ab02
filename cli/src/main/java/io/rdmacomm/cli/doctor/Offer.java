package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.RemoteMemory;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// The way to reach an end.
///
/// @param numbers of its queue pair
/// @param address where it accepts; null if it connects by numbers
/// @param open memory with all rights
/// @param closed memory without any right for peers
record Offer(QueuePairInfo numbers, @Nullable InetSocketAddress address, RemoteMemory open, RemoteMemory closed) {}
