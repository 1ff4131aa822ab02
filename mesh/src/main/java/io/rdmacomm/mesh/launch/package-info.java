/// Finds out where the nodes of a mesh meet, from launchers and host files: each launcher has a class that creates
/// a [MeetingPoint].
@NullMarked
package io.rdmacomm.mesh.launch;

import org.jspecify.annotations.NullMarked;
