/// Sets MPA connections up over TCP, on both sides, with a limit on everything that a peer could make last or pile
/// up. What it yields is a connected channel at whose first unread byte the stream of frames begins.
@NullMarked
package io.rdmacomm.soft.mpa;

import org.jspecify.annotations.NullMarked;
