/// Targets for a coverage-guided fuzzer: each takes any bytes, as a peer may send them. They depend on no fuzzer. The
/// ordinary run feeds them what is in `tests/fuzz`.
@NullMarked
package io.rdmacomm.tests.fuzz;

import org.jspecify.annotations.NullMarked;
