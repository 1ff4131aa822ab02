/// Snapshots of the counters of channels, in this process and in others. They do not change.
///
/// Version 1.0 freezes this package, which changes as [io.rdmacomm.verbs] does: later versions may have more counters.
@NullMarked
package io.rdmacomm.verbs.statistics;

import org.jspecify.annotations.NullMarked;
