/// The command `rdmacomm`: one class per subcommand, and what they share.
@NullMarked
package io.rdmacomm.cli;

import org.jspecify.annotations.NullMarked;
