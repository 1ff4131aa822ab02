/// Snapshots of the counters of sessions and channels. They do not change.
@NullMarked
package io.rdmacomm.comm.statistics;

import org.jspecify.annotations.NullMarked;
