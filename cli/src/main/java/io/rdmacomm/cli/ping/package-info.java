/// The command `ping`, also as a partner of C programs.
@NullMarked
package io.rdmacomm.cli.ping;

import org.jspecify.annotations.NullMarked;
