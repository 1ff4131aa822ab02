/// The counters files of processes: their folder and their layout, for those who write them and those who read
/// them. Not exported.
@NullMarked
package io.rdmacomm.verbs.counters.file;

import org.jspecify.annotations.NullMarked;
