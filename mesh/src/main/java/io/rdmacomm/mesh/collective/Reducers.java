package io.rdmacomm.mesh.collective;

import java.util.EnumMap;
import java.util.Map;

/// The used reducers, for reuse. For one thread at a time.
final class Reducers {
    private final Map<ElementType, Map<Reduction, Reducer>> known = new EnumMap<>(ElementType.class);

    /// The reducer of numbers of a type.
    ///
    /// @throws IllegalArgumentException for bytes
    Reducer of(ElementType type, Reduction reduction) {
        Map<Reduction, Reducer> ofType = known.get(type);
        if (ofType == null) {
            ofType = new EnumMap<>(Reduction.class);
            known.put(type, ofType);
        }
        Reducer reducer = ofType.get(reduction);
        if (reducer == null) {
            reducer = Reducer.of(type, reduction);
            ofType.put(reduction, reducer);
        }
        return reducer;
    }
}
