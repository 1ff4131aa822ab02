package io.rdmacomm.verbs.service;

import java.time.ZoneId;
import java.util.ResourceBundle;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A logger that never throws. Logs are written after failures, and then the log itself may fail, too:
/// without file descriptors or memory, or because the program's own log has a bug. Messages that cannot be
/// logged are lost; the caller continues. Thread-safe.
public final class SafeLogger implements System.Logger {
    private final System.Logger logger;

    private SafeLogger(System.Logger logger) {
        this.logger = logger;
    }

    /// The logger with this name.
    public static SafeLogger of(String name) {
        return new SafeLogger(System.getLogger(name));
    }

    /// The logger that is named after a class.
    public static SafeLogger of(Class<?> type) {
        return of(type.getName());
    }

    /// The logger that is named after the package of a class.
    public static SafeLogger ofPackage(Class<?> type) {
        return of(type.getPackageName());
    }

    /// Makes the log load the classes that it needs for its first line. Later there may be too few file
    /// descriptors, and a class whose initialization has failed once fails forever.
    public void prepare() {
        try {
            var _ = logger.isLoggable(Level.WARNING);
            // Lines begin with the local time.
            var _ = ZoneId.systemDefault().getRules();
        } catch (RuntimeException | Error e) {
            // Then nothing will be logged.
        }
    }

    @Override
    public String getName() {
        return logger.getName();
    }

    @Override
    public boolean isLoggable(Level level) {
        try {
            return logger.isLoggable(level);
        } catch (RuntimeException | Error e) {
            return false;
        }
    }

    @Override
    public void log(Level level, Supplier<String> message) {
        try {
            logger.log(level, message);
        } catch (RuntimeException | Error e) {
            // There is no other place to report it.
        }
    }

    @Override
    public void log(Level level, Supplier<String> message, Throwable thrown) {
        try {
            logger.log(level, message, thrown);
        } catch (RuntimeException | Error e) {
            // There is no other place to report it.
        }
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
        try {
            logger.log(level, bundle, message, thrown);
        } catch (RuntimeException | Error e) {
            // There is no other place to report it.
        }
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... parameters) {
        try {
            logger.log(level, bundle, format, parameters);
        } catch (RuntimeException | Error e) {
            // There is no other place to report it.
        }
    }
}
