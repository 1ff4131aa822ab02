/// The self-test of a device: checks that run on two queue pairs of one host, or on one queue pair of each
/// of two hosts.
@NullMarked
package io.rdmacomm.cli.selftest;

import org.jspecify.annotations.NullMarked;
