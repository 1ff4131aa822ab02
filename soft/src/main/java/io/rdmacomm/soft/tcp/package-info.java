/// Transport over TCP, for peers on other hosts: iWARP on one TCP connection for each queue pair, and the calls that
/// set these connections up.
@NullMarked
package io.rdmacomm.soft.tcp;

import org.jspecify.annotations.NullMarked;
