package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.ibverbs.ffm.DeviceLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.RdmaLibraries;
import io.rdmacomm.verbs.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The devices that libibverbs finds (ibv_get_device_list(3)).
///
/// @param devices the devices, in the order of libibverbs
/// @param errno the reason why there is no list; 0 if there is one
record DeviceList(List<IbvDevice> devices, int errno) {
    /// Reads the list.
    static DeviceList read(RdmaLibraries libraries) {
        LibIbverbs library = libraries.verbs();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            long list = library.getDeviceList(count.address());
            if (list <= 0) {
                return new DeviceList(List.of(), (int) -list);
            }
            try {
                List<IbvDevice> devices = new ArrayList<>();
                for (long device : entries(list, count.get(JAVA_INT, 0))) {
                    devices.add(IbvDevice.read(libraries, device));
                }
                return new DeviceList(List.copyOf(devices), 0);
            } finally {
                library.freeDeviceList(list);
            }
        }
    }

    /// Opens the device called `name`. Reads the list again, because an entry is valid only as long as its list.
    ///
    /// @return the address of its context, or minus the errno; ENODEV if it is gone
    static long open(LibIbverbs library, String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            long list = library.getDeviceList(count.address());
            if (list <= 0) {
                return list;
            }
            try {
                for (long device : entries(list, count.get(JAVA_INT, 0))) {
                    if (nameOf(device).equals(name)) {
                        return library.openDevice(device);
                    }
                }
                return -Errno.ENODEV.number();
            } finally {
                library.freeDeviceList(list);
            }
        }
    }

    private static String nameOf(long device) {
        return NativeMemory.string(
                NativeMemory.at(device, DeviceLayout.BYTES), DeviceLayout.NAME, DeviceLayout.NAME_BYTES);
    }

    private static long[] entries(long list, int count) {
        return NativeMemory.at(list, count * JAVA_LONG.byteSize()).toArray(JAVA_LONG);
    }
}
