/// Snapshots of the counters of channels. They do not change.
@NullMarked
package io.rdmacomm.verbs.statistics;

import org.jspecify.annotations.NullMarked;
