/// The device that injects faults: what each rule does, that the same seed does the same, and sessions over it.
package io.rdmacomm.tests.fault;
