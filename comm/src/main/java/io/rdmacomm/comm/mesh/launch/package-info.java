/// Where the nodes of a mesh meet, from what launchers and host files say: one class for each launcher, each of
/// which makes a [MeetingPoint].
@NullMarked
package io.rdmacomm.comm.mesh.launch;

import org.jspecify.annotations.NullMarked;
