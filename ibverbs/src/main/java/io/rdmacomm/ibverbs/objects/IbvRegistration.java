package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;

/// Registers memory with the function of libibverbs that its access flags need (ibv_reg_mr(3)).
final class IbvRegistration {
    private static final String REGISTER = "register memory (ibv_reg_mr)";

    private static final String REGISTER_DMA_BUFFER = "register DMA buffer (ibv_reg_dmabuf_mr)";
    private static final long PAGE = 4096;

    private IbvRegistration() {}

    /// Registers memory of this process.
    ///
    /// @param domain the address of the struct of the protection domain
    /// @return the address of the struct
    /// @throws VerbException the errno
    static long of(NativeContext device, long domain, MemorySegment segment, int access) {
        LibIbverbs library = device.library();
        boolean fromZero = AccessFlag.ZERO_BASED.in(access);
        if (fromZero) {
            checkFromZero(device, segment);
        }
        long from = segment.address();
        long bytes = segment.byteSize();
        // Zero-based addresses: the memory is registered at the remote address 0.
        long remote = fromZero ? 0 : from;
        int flags = flags(library, access);
        long handle;
        if (AccessFlag.RELAXED_ORDERING.in(flags)) {
            handle = library.registerWithOptions(domain, from, bytes, remote, flags);
        } else if (fromZero) {
            handle = library.registerMemoryAt(domain, from, bytes, remote, flags);
        } else {
            handle = library.registerMemory(domain, from, bytes, flags);
        }
        if (handle <= 0) {
            throw IbvFailure.ofRegistration(REGISTER, (int) -handle, bytes, device.toString());
        }
        return handle;
    }

    /// Registers memory of another device.
    ///
    /// @param domain the address of the struct of the protection domain
    /// @return the address of the struct
    /// @throws VerbException the errno
    static long of(NativeContext device, long domain, DmaBuffer buffer, int access) {
        long handle = device.library()
                .registerDmaBuffer(domain, buffer.offset(), buffer.length(), buffer.address(), buffer.file(), access);
        if (DmaBufferTrial.isAbsent((int) -handle)) {
            throw new UnsupportedVerbException(REGISTER_DMA_BUFFER, Capability.DMA_BUFFER, device.toString());
        }
        return IbvFailure.address(
                REGISTER_DMA_BUFFER,
                handle,
                buffer.length() + " bytes from " + buffer.offset() + " on of the DMA buffer with file descriptor "
                        + buffer.file() + " on " + device);
    }

    /// The access flags for C, without DIRECT_VIEW. ZERO_BASED needs another function instead, and optional flags,
    /// which may be ignored, do not exist in libraries before 1.8.
    static int flags(LibIbverbs library, int access) {
        int optional = library.takesOptions() ? 0 : AccessFlag.RELAXED_ORDERING.bit();
        return access & ~(AccessFlag.ZERO_BASED.bit() | AccessFlag.DIRECT_VIEW.bit() | optional);
    }

    private static void checkFromZero(NativeContext device, MemorySegment segment) {
        if (device.transport() == TransportType.IWARP || segment.address() % PAGE != 0) {
            throw new VerbException(
                    REGISTER,
                    Errno.EOPNOTSUPP,
                    "ZERO_BASED needs memory that begins at a page, and an InfiniBand or RoCE device; " + device
                            + " has " + device.transport());
        }
    }
}
