package io.rdmacomm.verbs.service;

import java.time.ZoneId;
import java.util.ResourceBundle;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A logger that never throws. Logs are written where something has gone wrong, and then the log itself
/// may fail, too: it finds no file descriptor for what it loads, no memory, or it is the program's own
/// and has a bug. What could not be logged is lost; whoever logs goes on. Thread-safe.
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

    /// Has the log load now what it needs for its first line. Later there may be too few file descriptors. A class that
    /// could not be initialized once fails for ever.
    public void prepare() {
        try {
            var _ = logger.isLoggable(Level.WARNING);
            // Lines begin with the local time.
            var _ = ZoneId.systemDefault().getRules();
        } catch (RuntimeException | Error e) {
            // Then there will be no log.
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
            // There is nobody left who could be told.
        }
    }

    @Override
    public void log(Level level, Supplier<String> message, Throwable thrown) {
        try {
            logger.log(level, message, thrown);
        } catch (RuntimeException | Error e) {
            // There is nobody left who could be told.
        }
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
        try {
            logger.log(level, bundle, message, thrown);
        } catch (RuntimeException | Error e) {
            // There is nobody left who could be told.
        }
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... parameters) {
        try {
            logger.log(level, bundle, format, parameters);
        } catch (RuntimeException | Error e) {
            // There is nobody left who could be told.
        }
    }
}
