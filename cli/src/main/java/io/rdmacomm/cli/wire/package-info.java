/// How the two ends of a command talk besides moving data: small frames of numbers and text.
@NullMarked
package io.rdmacomm.cli.wire;

import org.jspecify.annotations.NullMarked;
