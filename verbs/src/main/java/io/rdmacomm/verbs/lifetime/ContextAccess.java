package io.rdmacomm.verbs.lifetime;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.spi.ContextDriver;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Gives [io.rdmacomm.verbs.cm] the internal parts of a context. Set by the class of contexts before the
/// first one exists.
public abstract class ContextAccess {
    private static volatile @Nullable ContextAccess instance;

    /// For the class of contexts.
    protected ContextAccess() {}

    /// Sets the only instance.
    public static void set(ContextAccess access) {
        instance = access;
    }

    /// The only instance.
    public static ContextAccess get() {
        return Objects.requireNonNull(instance, "there is no context yet");
    }

    /// The place of a context in the tree of objects.
    public abstract Lifetime lifetime(Context context);

    /// The driver of a context.
    public abstract ContextDriver driver(Context context);
}
