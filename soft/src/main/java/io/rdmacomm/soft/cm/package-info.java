/// Connections by address: the connection manager of software devices, which speaks MPA over TCP (RFC 5044, RFC
/// 6581), and limits everything that a peer could prolong or pile up.
@NullMarked
package io.rdmacomm.soft.cm;

import org.jspecify.annotations.NullMarked;
