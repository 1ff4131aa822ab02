/// Options that several commands have.
@NullMarked
package io.rdmacomm.cli.options;

import org.jspecify.annotations.NullMarked;
