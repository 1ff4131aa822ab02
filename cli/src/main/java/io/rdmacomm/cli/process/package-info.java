/// Further processes of this command.
@NullMarked
package io.rdmacomm.cli.process;

import org.jspecify.annotations.NullMarked;
