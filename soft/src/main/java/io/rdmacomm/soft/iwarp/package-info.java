/// The wire format of iWARP (RFC 5044, 5040, 5041, 6581 and 7306): encoders and decoders for connection set-up,
/// frames, headers and Terminate messages, and checks of their order. Knows no sockets, no queue pairs and no
/// memory regions; decodes into reusable objects, and allocates nothing per frame.
@NullMarked
package io.rdmacomm.soft.iwarp;

import org.jspecify.annotations.NullMarked;
