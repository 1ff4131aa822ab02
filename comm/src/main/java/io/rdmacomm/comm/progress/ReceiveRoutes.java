package io.rdmacomm.comm.progress;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The routes of a completion group by the numbers of queue pairs. The polling thread finds a route without a lock
/// or an allocation; the table is replaced when a queue pair comes or goes.
final class ReceiveRoutes {
    private static final class Table {
        /// In ascending order.
        private final int[] numbers;

        private final ReceiveRoute[] routes;

        Table(int count) {
            numbers = new int[count];
            routes = new ReceiveRoute[count];
        }
    }

    private volatile Table table = new Table(0);

    /// The route of the queue pair with this number; null if there is none.
    @Nullable
    ReceiveRoute find(int number) {
        Table current = table;
        int at = Arrays.binarySearch(current.numbers, number);
        return at < 0 ? null : current.routes[at];
    }

    /// Adds the route of a queue pair; replaces that of an earlier one with the same number.
    synchronized void add(int number, ReceiveRoute route) {
        Table from = table;
        int at = Arrays.binarySearch(from.numbers, number);
        int before = at < 0 ? -at - 1 : at;
        table = spliced(from, before, at < 0 ? before : at + 1, number, route);
    }

    /// Removes a route, unless it was replaced.
    synchronized void remove(int number, ReceiveRoute route) {
        Table from = table;
        int at = Arrays.binarySearch(from.numbers, number);
        if (at >= 0 && from.routes[at].equals(route)) {
            table = spliced(from, at, at + 1, 0, null);
        }
    }

    /// The routes of `from` before position `before` and from position `after` on, with a route in between or none.
    private static Table spliced(Table from, int before, int after, int number, @Nullable ReceiveRoute route) {
        int inserted = route == null ? 0 : 1;
        int rest = from.numbers.length - after;
        Table to = new Table(before + inserted + rest);
        System.arraycopy(from.numbers, 0, to.numbers, 0, before);
        System.arraycopy(from.routes, 0, to.routes, 0, before);
        if (route != null) {
            to.numbers[before] = number;
            to.routes[before] = route;
        }
        System.arraycopy(from.numbers, after, to.numbers, before + inserted, rest);
        System.arraycopy(from.routes, after, to.routes, before + inserted, rest);
        return to;
    }
}
