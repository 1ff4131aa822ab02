package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PortState;
import java.util.List;
import java.util.stream.IntStream;

/// The ports of a device that have a link.
final class ActivePorts {
    private ActivePorts() {}

    /// Their numbers, counted from 1.
    static List<Integer> of(Context context) {
        return IntStream.rangeClosed(1, context.attributes().ports())
                .filter(port -> context.port(port).state() == PortState.ACTIVE)
                .boxed()
                .toList();
    }
}
