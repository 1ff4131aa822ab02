/// Counts and publishes, for `comm` and `nio`: sessions and sockets are [CounterSource]s, whose counters go to the
/// counters file of the process. Programs read such files with [io.rdmacomm.verbs.statistics.PublishedCounters].
@NullMarked
package io.rdmacomm.verbs.counters;

import org.jspecify.annotations.NullMarked;
