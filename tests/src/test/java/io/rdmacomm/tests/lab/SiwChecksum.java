package io.rdmacomm.tests.lab;

/// Tolerates wrong checksums from siw. Occasionally a driver thread continues a frame before the system call
/// that started it has returned, and adds to a checksum that is already complete. `soft` must reject such a
/// frame and end the connection (docs/80-troubleshooting.md).
final class SiwChecksum {
    private static final String REFUSED = "what the peer sent was refused: MPA, wrong checksum";

    private SiwChecksum() {}

    /// A connection over which siw sends much data with checksums.
    interface Stream {
        void run() throws Exception;
    }

    /// Runs a stream, and repeats it once if it ended with a wrong checksum from siw, but not for any other reason.
    ///
    /// @return whether it was repeated
    static boolean bear(Stream stream) throws Exception {
        try {
            stream.run();
            return false;
        } catch (AssertionError | RuntimeException e) {
            if (!isRefused(e)) {
                throw e;
            }
            System.out.println("[lab] siw sent a wrong checksum; repeating: " + e.getMessage());
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
