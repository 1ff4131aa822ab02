/// The contract of verbs as cases that every provider passes; docs/70-testing.md says how to add one.
@NullMarked
package io.rdmacomm.tests.contract;

import org.jspecify.annotations.NullMarked;
