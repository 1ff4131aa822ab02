/// The service of the examples beside the same service on plain sockets: `compare/service`.
@NullMarked
package io.rdmacomm.compare.service;

import org.jspecify.annotations.NullMarked;
