package io.rdmacomm.soft.tcp;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A limited number of members, each of an origin. One too many displaces the oldest of the origin that has most, so
/// an origin never displaces members of one that has fewer. One thread at a time.
///
/// @param <O> the origins
/// @param <M> the members
final class FairQueue<O, M> {
    private final int limit;
    /// Oldest first.
    private final Map<M, O> members = new LinkedHashMap<>();
    private final Map<O, Integer> counts = new HashMap<>();

    /// @param limit how many members there may be
    FairQueue(int limit) {
        this.limit = limit;
    }

    /// Takes a new member.
    ///
    /// @return the member that had to leave, or null
    @Nullable
    M add(M member, O origin) {
        members.put(member, origin);
        counts.merge(origin, 1, Integer::sum);
        if (members.size() <= limit) {
            return null;
        }
        M displaced = oldestOfMost();
        remove(displaced);
        return displaced;
    }

    private M oldestOfMost() {
        int most = 0;
        for (int count : counts.values()) {
            most = Math.max(most, count);
        }
        for (Map.Entry<M, O> each : members.entrySet()) {
            if (counts.getOrDefault(each.getValue(), 0) == most) {
                return each.getKey();
            }
        }
        throw new IllegalStateException("no origin has " + most);
    }

    /// A member leaves. Does nothing if it is none.
    void remove(M member) {
        O origin = members.remove(member);
        if (origin != null) {
            counts.computeIfPresent(origin, (_, count) -> count == 1 ? null : count - 1);
        }
    }
}
