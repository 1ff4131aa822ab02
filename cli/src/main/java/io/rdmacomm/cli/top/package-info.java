/// The display of `rdmacomm top`: samples of the counters files of this user's processes, as a table and as JSON.
@NullMarked
package io.rdmacomm.cli.top;

import org.jspecify.annotations.NullMarked;
