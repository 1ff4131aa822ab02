package io.rdmacomm.cli.command;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The values that an option with a number can have. [Ranges] checks them before the command runs.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Range {
    /// The smallest value.
    double min() default 0;

    /// The largest value.
    double max() default Double.POSITIVE_INFINITY;

    /// Whether `min` itself is too small.
    boolean above() default false;
}
