/// The commands `devices`, `info` and `watch`.
@NullMarked
package io.rdmacomm.cli.devices;

import org.jspecify.annotations.NullMarked;
