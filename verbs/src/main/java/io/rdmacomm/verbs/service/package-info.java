/// The threads of rdmacomm that serve others, and the log that they can rely on. For the modules of rdmacomm only.
@NullMarked
package io.rdmacomm.verbs.service;

import org.jspecify.annotations.NullMarked;
