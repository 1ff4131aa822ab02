package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.DatagramAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The address handles of a context by number, as requests name them. Numbers begin with 1 and are reused.
final class AddressHandles {
    private volatile @Nullable DatagramAddress[] addresses = new @Nullable DatagramAddress[0];

    /// Adds an address handle.
    ///
    /// @return its number
    synchronized long add(DatagramAddress address) {
        @Nullable DatagramAddress[] all = addresses;
        int free = 0;
        while (free < all.length && all[free] != null) {
            free++;
        }
        addresses = Arrays.copyOf(all, Math.max(all.length, free + 1));
        addresses[free] = address;
        return free + 1L;
    }

    /// Removes the address handle with this number.
    synchronized void remove(long number) {
        @Nullable DatagramAddress[] all = addresses.clone();
        all[(int) number - 1] = null;
        addresses = all;
    }

    /// The address handle with this number; null if there is none. Any thread.
    @Nullable
    DatagramAddress find(long number) {
        @Nullable DatagramAddress[] all = addresses;
        return number > 0 && number <= all.length ? all[(int) number - 1] : null;
    }
}
