/// iWARP as bytes (RFC 5044, 5040, 5041, 6581 and 7306): encoders and decoders for connection set-up, frames,
/// headers and Terminate messages, and the order they must come in. Knows no sockets, no queue pairs and no memory
/// regions; decodes into reusable objects, allocates nothing per frame.
@NullMarked
package io.rdmacomm.soft.iwarp;

import org.jspecify.annotations.NullMarked;
