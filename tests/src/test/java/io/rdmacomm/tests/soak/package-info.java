/// Hours of random traffic and random faults between processes, with a ledger of every operation and the expected
/// value of every byte: `./check --soak MINUTES`. Depends on the fixtures only.
@NullMarked
package io.rdmacomm.tests.soak;

import org.jspecify.annotations.NullMarked;
