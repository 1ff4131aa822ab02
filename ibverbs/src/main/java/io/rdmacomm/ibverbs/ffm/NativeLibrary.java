package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// A library opened by name (dlopen(3)), and its functions. It stays open until the process ends.
final class NativeLibrary {
    private static final Map<String, NativeLibrary> OPENED = new ConcurrentHashMap<>();

    private final SymbolLookup lookup;
    private final Map<String, MemorySegment> functions = new ConcurrentHashMap<>();

    private NativeLibrary(SymbolLookup lookup) {
        this.lookup = lookup;
    }

    /// Opens a library, once for each name.
    ///
    /// @param name what the dynamic linker searches for, or a path
    /// @param required the functions that it must have
    /// @param ifIncomplete the explanation for a library that lacks one of them
    /// @param howToInstall the advice if it is absent
    /// @throws AbsentLibraryException if it is absent or incomplete, or native access is denied
    static NativeLibrary open(String name, List<String> required, String ifIncomplete, String howToInstall)
            throws AbsentLibraryException {
        NativeLibrary library = OPENED.get(name);
        if (library == null) {
            library = new NativeLibrary(load(name, howToInstall));
        }
        for (String function : required) {
            if (library.function(function).address() == 0) {
                throw new AbsentLibraryException(name + " has no " + function + "; " + ifIncomplete);
            }
        }
        OPENED.put(name, library);
        return library;
    }

    @SuppressWarnings("restricted") // this is the place that loads a native library
    private static SymbolLookup load(String name, String howToInstall) throws AbsentLibraryException {
        try {
            // First the linker: it fails if this platform or this process cannot call C at all.
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

    private MemorySegment function(String name) {
        return functions.computeIfAbsent(name, each -> lookup.find(each).orElse(MemorySegment.NULL));
    }

    /// Whether the library has this function.
    boolean has(String function) {
        return function(function).address() != 0;
    }

    /// See [Calls#pointer].
    long pointer(String function, long... arguments) {
        return Calls.pointer(function(function), arguments);
    }

    /// See [Calls#number].
    int number(String function, long... arguments) {
        return Calls.number(function(function), arguments);
    }

    /// See [Calls#numberWithErrno].
    int numberWithErrno(String function, long... arguments) {
        return Calls.numberWithErrno(function(function), arguments);
    }

    /// See [Calls#value].
    long value(String function, long... arguments) {
        return Calls.value(function(function), arguments);
    }
}
