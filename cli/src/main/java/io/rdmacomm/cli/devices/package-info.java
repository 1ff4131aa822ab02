/// The commands `devices`, `info`, `watch` and `top`.
@NullMarked
package io.rdmacomm.cli.devices;

import org.jspecify.annotations.NullMarked;
