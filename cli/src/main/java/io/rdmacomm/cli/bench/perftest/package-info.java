/// Both ends of the C programs of perftest: `ib_send_lat`, `ib_write_bw` and their siblings.
@NullMarked
package io.rdmacomm.cli.bench.perftest;

import org.jspecify.annotations.NullMarked;
