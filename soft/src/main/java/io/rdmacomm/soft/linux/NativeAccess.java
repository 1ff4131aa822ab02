package io.rdmacomm.soft.linux;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// Whether this program may call the C library, and the layouts and numbers of this package are those of the system.
final class NativeAccess {
    private NativeAccess() {}

    /// Whether it may, and they are. Links nothing.
    static boolean isUsable() {
        String processor = System.getProperty("os.arch");
        return NativeAccess.class.getModule().isNativeAccessEnabled()
                && System.getProperty("os.name").equals("Linux")
                && ValueLayout.ADDRESS.byteSize() == Long.BYTES
                && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
                && (processor.equals("amd64") || processor.equals("aarch64"));
    }
}
