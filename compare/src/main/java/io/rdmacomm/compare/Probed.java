package io.rdmacomm.compare;

import java.util.function.Supplier;

/// A contestant that may be unable to run although its program is here.
///
/// @param contestant that is measured
/// @param probe why it cannot run on this machine; empty if it can
record Probed(Contestant contestant, Supplier<String> probe) implements Wrapper {
    @Override
    public String absence() {
        return contestant.absence().isEmpty() ? probe.get() : contestant.absence();
    }
}
