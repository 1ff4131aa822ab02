package io.rdmacomm.soft.memory;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Buffers to pass to a socket, one for each place in a gather or scatter list: duplicates of a region's buffers.
/// They are kept between operations, because a duplicate allocates. A connection that uses the same few regions
/// repeatedly soon allocates none.
public final class BufferViews {
    private final @Nullable ByteBuffer[] sources;
    private final @Nullable ByteBuffer[] views;

    /// Views for lists of at most `places` buffers.
    public BufferViews(int places) {
        sources = new @Nullable ByteBuffer[places];
        views = new @Nullable ByteBuffer[places];
    }

    /// A view of the bytes from `from` to `to` of `source`, to be used at one place of a list.
    @SuppressWarnings("ReferenceEquality") // the same buffer, not the same content
    public ByteBuffer view(int place, ByteBuffer source, int from, int to) {
        if (sources[place] != source) {
            fetch(place, source);
        }
        ByteBuffer view = views[place];
        if (view == null) {
            view = source.duplicate();
            views[place] = view;
            sources[place] = source;
        }
        return view.limit(to).position(from);
    }

    /// Moves a view of `source` here from a later place, or leaves none.
    @SuppressWarnings("ReferenceEquality")
    private void fetch(int place, ByteBuffer source) {
        int found = place + 1;
        while (found < sources.length && sources[found] != source) {
            found++;
        }
        if (found == sources.length) {
            sources[place] = null;
            views[place] = null;
            return;
        }
        ByteBuffer view = views[found];
        sources[found] = sources[place];
        views[found] = views[place];
        sources[place] = source;
        views[place] = view;
    }

    /// Forgets all views.
    public void clear() {
        Arrays.fill(sources, null);
        Arrays.fill(views, null);
    }
}
