/// What sessions and channels have counted: snapshots, which do not change.
@NullMarked
package io.rdmacomm.comm.statistics;

import org.jspecify.annotations.NullMarked;
