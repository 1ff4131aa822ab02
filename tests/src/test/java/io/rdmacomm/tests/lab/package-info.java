/// Tests that run inside the lab: device faults, interoperation with C programs, and the kernel's siw as a peer.
@NullMarked
package io.rdmacomm.tests.lab;

import org.jspecify.annotations.NullMarked;
