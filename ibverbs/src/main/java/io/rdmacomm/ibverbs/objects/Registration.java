package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;

/// Registers memory with the function of libibverbs that its access flags need (ibv_reg_mr(3)).
final class Registration {
    static final String REGISTER = "register memory (ibv_reg_mr)";

    private static final long PAGE = 4096;

    private Registration() {}

    /// @return the address of the struct, or minus the errno
    static long of(LibIbverbs library, IbvProtectionDomain domain, MemorySegment segment, int access) {
        boolean fromZero = AccessFlag.ZERO_BASED.in(access);
        if (fromZero) {
            checkFromZero(domain.context(), segment);
        }
        long from = segment.address();
        long bytes = segment.byteSize();
        // Addresses that count from zero are memory registered at another remote address, 0.
        long remote = fromZero ? 0 : from;
        int flags = flags(library, access);
        if (AccessFlag.RELAXED_ORDERING.in(flags)) {
            return library.registerWithOptions(domain.address(), from, bytes, remote, flags);
        }
        return fromZero
                ? library.registerMemoryAt(domain.address(), from, bytes, remote, flags)
                : library.registerMemory(domain.address(), from, bytes, flags);
    }

    /// The access flags for C: ZERO_BASED is another function, and a library before 1.8 has no optional ones,
    /// which may be ignored.
    static int flags(LibIbverbs library, int access) {
        int optional = library.takesOptions() ? 0 : AccessFlag.RELAXED_ORDERING.bit();
        return access & ~(AccessFlag.ZERO_BASED.bit() | optional);
    }

    private static void checkFromZero(Context context, MemorySegment segment) {
        if (context.device().transport() == TransportType.IWARP || segment.address() % PAGE != 0) {
            throw new VerbException(
                    REGISTER,
                    Errno.EOPNOTSUPP,
                    "ZERO_BASED needs memory that begins at a page, and an InfiniBand or RoCE device; " + context
                            + " has " + context.device().transport());
        }
    }
}
