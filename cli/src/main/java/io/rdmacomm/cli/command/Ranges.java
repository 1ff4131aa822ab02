package io.rdmacomm.cli.command;

import java.lang.reflect.AnnotatedElement;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/// Checks the numbers of a command line.
public final class Ranges {
    private Ranges() {}

    /// Checks all options with a [Range] that were given.
    ///
    /// @throws ParameterException if a value is out of its range
    public static void check(ParseResult given) {
        for (OptionSpec option : given.matchedOptionsSet()) {
            Range range =
                    option.userObject() instanceof AnnotatedElement field ? field.getAnnotation(Range.class) : null;
            if (range != null) {
                Object value = option.getValue();
                List<?> values = value instanceof List<?> all ? all : List.of(value);
                values.forEach(each -> check(given.commandSpec(), option, ((Number) each).doubleValue(), range));
            }
        }
        if (given.hasSubcommand()) {
            check(given.subcommand());
        }
    }

    private static void check(CommandSpec spec, OptionSpec option, double value, Range range) {
        boolean enough = range.above() ? value > range.min() : value >= range.min();
        if (!(enough && value <= range.max())) {
            boolean bytes = Arrays.stream(option.converters()).anyMatch(ByteSize.class::isInstance);
            throw outOfRange(spec, option.longestName(), text(value, bytes), allowed(range, bytes));
        }
    }

    /// Checks a number whose range depends on other options.
    ///
    /// @throws ParameterException if `value` is out of range
    public static void check(CommandSpec spec, String option, long value, long min, long max) {
        if (value < min || value > max) {
            throw outOfRange(spec, option, Long.toString(value), min + " to " + max);
        }
    }

    private static ParameterException outOfRange(CommandSpec spec, String option, String value, String allowed) {
        return new ParameterException(
                spec.commandLine(), option + " " + value + " is out of range: it can be " + allowed);
    }

    private static String allowed(Range range, boolean bytes) {
        String min = text(range.min(), bytes);
        if (range.max() == Double.POSITIVE_INFINITY) {
            return min + " or more";
        }
        return (range.above() ? "above " + min + ", up to " : min + " to ") + text(range.max(), bytes);
    }

    private static String text(double value, boolean bytes) {
        if (value != Math.rint(value) || Double.isInfinite(value)) {
            return Double.toString(value);
        }
        return bytes ? ByteSize.format((long) value) : Long.toString((long) value);
    }
}
