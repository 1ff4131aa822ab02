/// The measurements of `rdmacomm bench`: one class per kind of test, the limits of the machine, and the report.
@NullMarked
package io.rdmacomm.cli.bench;

import org.jspecify.annotations.NullMarked;
