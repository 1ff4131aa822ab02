/// The command `bench`: its options, and how it shows what it has measured.
@NullMarked
package io.rdmacomm.cli.bench;

import org.jspecify.annotations.NullMarked;
