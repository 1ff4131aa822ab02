package io.rdmacomm.soft.tcp;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A bounded set of members, grouped by origin. A member beyond the limit displaces the oldest one of the largest
/// origin, so an origin never displaces members of a smaller one. Not thread-safe.
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

    /// Removes a member if it is present.
    void remove(M member) {
        O origin = members.remove(member);
        if (origin != null) {
            counts.computeIfPresent(origin, (_, count) -> count == 1 ? null : count - 1);
        }
    }
}
