package io.rdmacomm.nio.rsocket;

/// The memory of a connection, like that of the C library (/etc/rdma/rsocket).
///
/// @param receive the size of the receive buffer in bytes, an even number
/// @param mostReceive the size that the receive buffer may grow to, in bytes, an even number
/// @param send the size of the send buffer in bytes
/// @param messages the limit of messages that have arrived unread, and of those in flight
/// @param mappings the number of memory ranges that the peer may map
public record BufferSizes(int receive, int mostReceive, int send, int messages, int mappings) {
    /// The least for a buffer, in bytes.
    public static final int LEAST = 4096;
    /// The most for a buffer, in bytes.
    public static final int MOST = 1 << 28;

    private static final int DEFAULT_BYTES = 1 << 17;
    private static final int DEFAULT_MOST_BYTES = 1 << 20;
    /// With control messages and spare receives, queues of 128 requests and 256 completions.
    private static final int DEFAULT_MESSAGES = 112;
    private static final int LEAST_MESSAGES = 32;
    private static final int MOST_MESSAGES = 0x7fff;

    /// The private data has 8 bits for the number: up to 128 exactly, above in units of 256.
    private static final int EXACT_MAPPINGS = 128;
    private static final int MAPPINGS_UNIT = 256;
    private static final int MOST_MAPPINGS = 127 * MAPPINGS_UNIT;

    /// Checks the sizes.
    public BufferSizes {
        if (receive < LEAST || receive > MOST || send < LEAST || send > MOST || (receive & 1) != 0) {
            throw new IllegalArgumentException(
                    "buffers must have " + LEAST + " to " + MOST + " bytes, even, not " + receive + " and " + send);
        }
        if (mostReceive < receive || mostReceive > MOST || (mostReceive & 1) != 0) {
            throw new IllegalArgumentException("a buffer of " + receive + " bytes may grow to at most " + MOST
                    + " bytes, even, not " + mostReceive);
        }
        if (messages < LEAST_MESSAGES || messages > MOST_MESSAGES) {
            throw new IllegalArgumentException(
                    "there must be " + LEAST_MESSAGES + " to " + MOST_MESSAGES + " messages, not " + messages);
        }
        if (mappings < 0 || mappings > MOST_MAPPINGS || mappings != possibleMappings(mappings)) {
            throw new IllegalArgumentException("there must be 0 to " + EXACT_MAPPINGS + " mappings, or a multiple of "
                    + MAPPINGS_UNIT + " up to " + MOST_MAPPINGS + ", not " + mappings);
        }
    }

    /// 128 KiB each way and no mappings, as in C, and 112 messages. C has 384 messages, which need as much memory
    /// as the buffers. Messages of a kilobyte fill the ring before that limit. The receive buffer may grow to
    /// 1 MiB.
    public static BufferSizes defaults() {
        return new BufferSizes(DEFAULT_BYTES, DEFAULT_MOST_BYTES, DEFAULT_BYTES, DEFAULT_MESSAGES, 0);
    }

    /// These sizes with another receive buffer, raised or reduced to what is possible. It does not grow.
    public BufferSizes withReceive(int bytes) {
        int possible = Math.clamp(bytes, LEAST, MOST) & ~1;
        return new BufferSizes(possible, possible, send, messages, mappings);
    }

    /// These sizes with another number of messages, raised or reduced to what is possible.
    public BufferSizes withMessages(int count) {
        return new BufferSizes(receive, mostReceive, send, Math.clamp(count, LEAST_MESSAGES, MOST_MESSAGES), mappings);
    }

    /// These sizes with another send buffer, raised or reduced to what is possible.
    public BufferSizes withSend(int bytes) {
        return new BufferSizes(receive, mostReceive, Math.clamp(bytes, LEAST, MOST), messages, mappings);
    }

    /// These sizes with another number of mappings, reduced to what is possible.
    public BufferSizes withMappings(int count) {
        return new BufferSizes(receive, mostReceive, send, messages, possibleMappings(count));
    }

    private static int possibleMappings(int count) {
        if (count < MAPPINGS_UNIT) {
            return Math.clamp(count, 0, EXACT_MAPPINGS);
        }
        return Math.min(count, MOST_MAPPINGS) / MAPPINGS_UNIT * MAPPINGS_UNIT;
    }
}
