package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.rig.ClientOrigin;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The requests of a server whose handshake is not complete. There is always room for one more: it displaces the
/// oldest, of the same origin if that has used its share, otherwise of all. So silent clients cannot keep others
/// out. Thread-safe.
///
/// @param <R> the requests
final class UnansweredRequests<R> {
    static final int MOST = 128;
    static final int MOST_OF_AN_ORIGIN = 64;

    /// Their origins, the oldest first.
    private final Map<R, ClientOrigin> all = new LinkedHashMap<>();

    /// Adds a request, until [#remove].
    ///
    /// @return the displaced request, which the caller closes; null if there was room
    synchronized @Nullable R add(R newest, InetAddress from) {
        ClientOrigin origin = ClientOrigin.of(from);
        List<R> same = all.entrySet().stream()
                .filter(each -> each.getValue().equals(origin))
                .map(Map.Entry::getKey)
                .toList();
        R displaced = null;
        if (same.size() >= MOST_OF_AN_ORIGIN) {
            displaced = same.getFirst();
        } else if (all.size() >= MOST) {
            displaced = all.keySet().iterator().next();
        }
        if (displaced != null) {
            all.remove(displaced);
        }
        all.put(newest, origin);
        return displaced;
    }

    /// Removes a request that has ended, or whose handshake is complete.
    synchronized void remove(R request) {
        all.remove(request);
    }

    /// Removes all of them, which the caller closes.
    synchronized List<R> removeAll() {
        List<R> removed = List.copyOf(all.keySet());
        all.clear();
        return removed;
    }
}
