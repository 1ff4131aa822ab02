package io.rdmacomm.ibverbs.ffm;

/// The libraries of a provider. librdmacm is opened on demand: most programs never need it.
///
/// @param verbs libibverbs
/// @param rdmacm what the dynamic linker searches for as librdmacm
public record NativeLibraries(LibIbverbs verbs, String rdmacm) {
    /// Opens libibverbs.
    ///
    /// @throws AbsentLibraryException if that is not possible; says why
    public static NativeLibraries open(String verbs, String rdmacm) throws AbsentLibraryException {
        return new NativeLibraries(LibIbverbs.open(verbs), rdmacm);
    }

    /// librdmacm.
    ///
    /// @throws AbsentLibraryException if there is none; says why
    public LibRdmacm connections() throws AbsentLibraryException {
        return LibRdmacm.open(rdmacm);
    }
}
