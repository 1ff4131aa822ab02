package io.rdmacomm.ibverbs.objects;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/// The bindings of a queue pair that may still fail. The key of a window changes when a binding is posted; if the
/// binding fails, the library has to restore the earlier key (ibv_bind_mw(3)).
///
/// A binding is identified by its work request id. An unsignalled one counts as recent until as many others were
/// posted as the send queue holds. If other work with the same id is flushed before that, the window wrongly gets
/// its earlier key back although the binding succeeded.
final class RecentBindings {
    /// A binding in flight.
    ///
    /// @param workId the id of its request
    /// @param window the window
    /// @param keyBefore the key that the window had before
    private record Binding(long workId, IbvMemoryWindow window, int keyBefore) {}

    private final Deque<Binding> bindings = new ArrayDeque<>();
    private final int most;

    RecentBindings(int most) {
        this.most = Math.max(1, most);
    }

    synchronized void posted(long workId, IbvMemoryWindow window, int keyBefore) {
        if (bindings.size() == most) {
            bindings.remove();
        }
        bindings.add(new Binding(workId, window, keyBefore));
    }

    /// The first binding with that id has succeeded, or was not posted.
    synchronized void forget(long workId) {
        Iterator<Binding> each = bindings.iterator();
        while (each.hasNext()) {
            if (each.next().workId() == workId) {
                each.remove();
                return;
            }
        }
    }

    /// Restores the key of the window of the first binding with that id. Later bindings of that window fail, too.
    synchronized void failed(long workId) {
        for (Binding binding : bindings) {
            if (binding.workId() == workId) {
                IbvMemoryWindow window = binding.window();
                window.remoteKey(binding.keyBefore());
                bindings.removeIf(other -> other.window().equals(window));
                return;
            }
        }
    }
}
