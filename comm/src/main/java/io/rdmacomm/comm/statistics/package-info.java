/// Snapshots of the counters of sessions and channels. They do not change.
///
/// Version 1.0 freezes this package, which changes as [io.rdmacomm.comm] does: later versions may have more counters.
@NullMarked
package io.rdmacomm.comm.statistics;

import org.jspecify.annotations.NullMarked;
