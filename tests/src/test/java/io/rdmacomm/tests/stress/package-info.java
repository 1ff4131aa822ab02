/// jcstress tests of the lock-free structures: every interleaving of two or three threads that the JVM
/// and the processor produce must have one of the outcomes that a test accepts. `./check --all` runs
/// them.
package io.rdmacomm.tests.stress;
