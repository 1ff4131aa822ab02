package io.rdmacomm.ibverbs.ffm;

/// The libraries of a provider. librdmacm is opened on demand: most programs never need it.
///
/// @param verbs libibverbs
/// @param rdmacm the name of librdmacm for the dynamic linker
public record RdmaLibraries(LibIbverbs verbs, String rdmacm) {
    /// Opens libibverbs.
    ///
    /// @throws AbsentLibraryException if that is not possible; gives the reason
    public static RdmaLibraries open(String verbs, String rdmacm) throws AbsentLibraryException {
        return new RdmaLibraries(LibIbverbs.open(verbs), rdmacm);
    }

    /// librdmacm.
    ///
    /// @throws AbsentLibraryException if there is none; gives the reason
    public LibRdmacm connections() throws AbsentLibraryException {
        return LibRdmacm.open(rdmacm);
    }
}
