package io.rdmacomm.nio.rsocket;

import java.time.Duration;

/// When an idle peer is probed and given up (SO_KEEPALIVE, tcp(7)).
///
/// @param idle the idle time before the first probe
/// @param interval the time between probes
/// @param probes the number of probes that may stay unanswered
public record KeepAlive(Duration idle, Duration interval, int probes) {}
