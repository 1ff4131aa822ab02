package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;

/// Opens a library by name (dlopen(3)), or says in one line why it cannot be used.
final class NativeLibrary {
    private NativeLibrary() {}

    /// Opens a library that stays open until the process ends.
    ///
    /// @param name what the dynamic linker searches for, or a path
    /// @param howToInstall what to do where it is absent
    /// @throws AbsentLibraryException if it is absent, or native access is denied
    @SuppressWarnings("restricted") // this is the place that loads a native library
    static SymbolLookup open(String name, String howToInstall) throws AbsentLibraryException {
        try {
            // Linker first: it says whether this platform and this process can call C at all.
            Linker.nativeLinker();
            return SymbolLookup.libraryLookup(name, Arena.global());
        } catch (IllegalArgumentException e) {
            throw new AbsentLibraryException(name + " is not installed; " + howToInstall);
        } catch (IllegalCallerException e) {
            throw new AbsentLibraryException(
                    "Java denies native access; start it with --enable-native-access=io.rdmacomm.ibverbs, or"
                            + " =ALL-UNNAMED on the class path");
        } catch (UnsupportedOperationException e) {
            throw new AbsentLibraryException("this platform has no foreign function interface: " + e.getMessage());
        }
    }
}
