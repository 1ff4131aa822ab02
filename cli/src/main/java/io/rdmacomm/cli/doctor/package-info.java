/// The command `doctor`, and its self-test of a device.
@NullMarked
package io.rdmacomm.cli.doctor;

import org.jspecify.annotations.NullMarked;
