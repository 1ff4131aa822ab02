/// Text for people: addresses, sizes, failures in one line, and progress.
@NullMarked
package io.rdmacomm.cli.terminal;

import org.jspecify.annotations.NullMarked;
