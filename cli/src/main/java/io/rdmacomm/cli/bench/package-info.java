/// The measuring part of `rdmacomm bench`: one class per shape of test, the machine's own limits, and the
/// report.
@NullMarked
package io.rdmacomm.cli.bench;

import org.jspecify.annotations.NullMarked;
