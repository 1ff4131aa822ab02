/// Control messages between the two sides of a command: small frames of numbers and text.
@NullMarked
package io.rdmacomm.cli.wire;

import org.jspecify.annotations.NullMarked;
