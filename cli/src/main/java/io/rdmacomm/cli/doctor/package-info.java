/// The command `doctor`.
@NullMarked
package io.rdmacomm.cli.doctor;

import org.jspecify.annotations.NullMarked;
