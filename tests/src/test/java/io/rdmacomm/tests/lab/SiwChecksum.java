package io.rdmacomm.tests.lab;

/// What siw does to a stream now and then: a thread of the driver goes on with a frame before the system call that
/// has begun it is out of it, and adds to a checksum that is complete already. `soft` refuses such a frame and ends
/// the connection, as it has to (docs/80-troubleshooting.md).
final class SiwChecksum {
    private static final String REFUSED = "what the peer sent was refused: MPA, wrong checksum";

    private SiwChecksum() {}

    /// A connection over which siw sends much, with checksums.
    interface Stream {
        void run() throws Exception;
    }

    /// Runs a stream, and once more if it ended with a checksum of siw's, and not with anything else.
    ///
    /// @return whether it was run twice
    static boolean bear(Stream stream) throws Exception {
        try {
            stream.run();
            return false;
        } catch (AssertionError | RuntimeException e) {
            if (!isRefused(e)) {
                throw e;
            }
            System.out.println("[lab] siw has sent a wrong checksum; once more: " + e.getMessage());
            stream.run();
            return true;
        }
    }

    private static boolean isRefused(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(REFUSED)) {
                return true;
            }
        }
        return false;
    }
}
