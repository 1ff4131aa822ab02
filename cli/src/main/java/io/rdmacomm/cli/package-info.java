/// The command `rdmacomm`: one class per subcommand, and the options and output that they share.
@NullMarked
package io.rdmacomm.cli;

import org.jspecify.annotations.NullMarked;
