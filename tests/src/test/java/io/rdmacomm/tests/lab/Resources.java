package io.rdmacomm.tests.lab;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/// The verbs objects that the kernel has, of all processes, contexts included.
///
/// @param text what [#COMMAND] says
record Resources(String text) {
    static final String COMMAND = "rdma resource show";

    static Resources now() {
        return new Resources(Shell.text(COMMAND));
    }

    /// Has librdmacm open all devices. It opens each that it meets once, and keeps it until the process ends
    /// (rdma_get_devices(3)), so whoever counts contexts must have had it meet them before.
    @SuppressWarnings("restricted") // the descriptors are those of the C header
    static void letLibrdmacmOpenDevices() {
        Linker linker = Linker.nativeLinker();
        SymbolLookup library = SymbolLookup.libraryLookup("librdmacm.so.1", Arena.global());
        try {
            MemorySegment devices = (MemorySegment) linker.downcallHandle(
                            library.findOrThrow("rdma_get_devices"), FunctionDescriptor.of(ADDRESS, ADDRESS))
                    .invokeExact(MemorySegment.NULL);
            if (devices.address() == 0) {
                throw new AssertionError("rdma_get_devices failed: is rdma_ucm loaded?");
            }
            linker.downcallHandle(library.findOrThrow("rdma_free_devices"), FunctionDescriptor.ofVoid(ADDRESS))
                    .invokeExact(devices);
        } catch (Throwable thrown) {
            throw new AssertionError("librdmacm does not open the devices", thrown);
        }
    }

    /// Whether a process that began with `before` has closed everything of its own, and its children have ended.
    boolean leftBy(Resources before) {
        return equals(before);
    }

    @Override
    public String toString() {
        return text;
    }
}
