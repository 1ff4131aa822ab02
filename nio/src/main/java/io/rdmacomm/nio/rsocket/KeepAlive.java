package io.rdmacomm.nio.rsocket;

import java.time.Duration;

/// When an idle peer is asked for a sign of life, and given up (SO_KEEPALIVE, tcp(7)).
///
/// @param idle how long nothing may happen before the first question
/// @param interval how long to wait for an answer before the next one
/// @param probes how many questions may stay without an answer
public record KeepAlive(Duration idle, Duration interval, int probes) {}
