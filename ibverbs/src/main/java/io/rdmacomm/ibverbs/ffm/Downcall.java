package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/// A C signature of the control path, linked when it is called for the first time: linking one takes milliseconds,
/// and most programs call few of them. The function is the first argument, the errno's memory the second.
final class Downcall {
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private final FunctionDescriptor descriptor;
    private volatile @Nullable MethodHandle handle;

    Downcall(FunctionDescriptor descriptor) {
        this.descriptor = descriptor;
    }

    /// Two threads may link it both; either handle will do.
    @SuppressWarnings("restricted") // the descriptors are those of the C headers
    MethodHandle handle() {
        MethodHandle linked = handle;
        if (linked == null) {
            linked = Linker.nativeLinker().downcallHandle(descriptor, ERRNO);
            handle = linked;
        }
        return linked;
    }
}
