package io.rdmacomm.tests.lab;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/// The verbs objects of all processes that the kernel knows, including contexts.
///
/// @param text the output of [#COMMAND]
record Resources(String text) {
    static final String COMMAND = "rdma resource show";

    static Resources now() {
        return new Resources(Shell.text(COMMAND));
    }

    /// Makes librdmacm open all devices. It opens each device once and keeps it open until the process ends
    /// (rdma_get_devices(3)), so this must happen before contexts are counted.
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

    /// Returns whether a process that started with `before` has closed all its objects and its children have ended.
    boolean leftBy(Resources before) {
        return equals(before);
    }

    @Override
    public String toString() {
        return text;
    }
}
