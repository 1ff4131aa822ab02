/// The service threads of rdmacomm, and a logger that never throws. For the modules of rdmacomm only.
@NullMarked
package io.rdmacomm.verbs.service;

import org.jspecify.annotations.NullMarked;
