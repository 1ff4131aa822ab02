/// The counters file of a process, which `rdmacomm top` reads: its layout, the folder, the writer and the
/// reader. It does not depend on sessions: they are its [CounterSource]s.
@NullMarked
package io.rdmacomm.verbs.counters;

import org.jspecify.annotations.NullMarked;
