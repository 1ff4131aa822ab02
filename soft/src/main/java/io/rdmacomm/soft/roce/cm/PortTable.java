package io.rdmacomm.soft.roce.cm;

import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The ports of one port space that this side's programs use. Under the lock of the manager.
///
/// @param <R> the kind of requests
final class PortTable<R> {
    /// The ephemeral ports of Linux.
    private static final int FIRST = 32768;
    private static final int LAST = 60999;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Map<Integer, ListeningPort<R>> listening = new HashMap<>();
    private final Set<Integer> calling = new HashSet<>();

    /// Chooses a port.
    ///
    /// @param wanted 0 for any free one
    /// @return 0 if it is taken
    int choose(int wanted) {
        int number = wanted;
        if (wanted == 0) {
            number = FIRST + RANDOM.nextInt(LAST - FIRST + 1);
            for (int tries = FIRST; isTaken(number) && tries < LAST; tries++) {
                number = number == LAST ? FIRST : number + 1;
            }
        }
        return isTaken(number) ? 0 : number;
    }

    private boolean isTaken(int number) {
        return listening.containsKey(number) || calling.contains(number);
    }

    void add(ListeningPort<R> port) {
        listening.put(port.number(), port);
    }

    void remove(ListeningPort<R> port) {
        listening.remove(port.number(), port);
    }

    @Nullable
    ListeningPort<R> find(int number) {
        return listening.get(number);
    }

    /// Marks a port that this side connects from.
    void call(int number) {
        calling.add(number);
    }

    void hangUp(int number) {
        calling.remove(number);
    }
}
