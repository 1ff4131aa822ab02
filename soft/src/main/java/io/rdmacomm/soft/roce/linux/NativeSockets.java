package io.rdmacomm.soft.roce.linux;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Whether sockets can be used through the C library.
final class NativeSockets {
    private NativeSockets() {}

    /// Whether this program has native access, and [LibC] has the layouts and numbers of this system. Links
    /// nothing.
    static boolean areUsable() {
        String processor = System.getProperty("os.arch");
        return NativeSockets.class.getModule().isNativeAccessEnabled()
                && System.getProperty("os.name").equals("Linux")
                && ValueLayout.ADDRESS.byteSize() == Long.BYTES
                && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                && (processor.equals("amd64") || processor.equals("aarch64"));
    }
}
