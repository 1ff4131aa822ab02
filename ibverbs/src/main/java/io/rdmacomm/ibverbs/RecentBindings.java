package io.rdmacomm.ibverbs;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/// The bindings that a queue pair was asked for and that may still fail. A window's key changes when a binding is
/// posted; when it fails, undoing that is left to the program (ibv_bind_mw(3)).
///
/// A binding is known by the number of its work request. One that is not signalled counts as recent until as many
/// others were posted as the send queue holds: whoever gives its number to other work that is flushed meanwhile
/// gets the earlier key back.
final class RecentBindings {
    /// A binding under way.
    ///
    /// @param workId the number of its request
    /// @param window the window
    /// @param keyBefore the key it had
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

    /// The first binding with that number has succeeded, or was not posted after all.
    synchronized void forget(long workId) {
        Iterator<Binding> each = bindings.iterator();
        while (each.hasNext()) {
            if (each.next().workId() == workId) {
                each.remove();
                return;
            }
        }
    }

    /// Gives the window of the first binding with that number its key back; later ones of the same window fail,
    /// too.
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
