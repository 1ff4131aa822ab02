package io.rdmacomm.cli.command;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.logging.LogManager;
import org.jspecify.annotations.Nullable;

/// The log level of `io.rdmacomm`, from `RDMACOMM_LOG_LEVEL`: 0 logs errors, 1 warnings and information, 2 and 3
/// details, 4 and 5 everything. `-v` is at least level 2.
///
/// java.util.logging creates an instance when something is logged for the first time. A run that logs nothing does
/// not load java.util.logging.
public final class LogSettings {
    private static final String VARIABLE = "RDMACOMM_LOG_LEVEL";

    /// The variable of rdma_comm_core, for scripts that still set it.
    private static final String FORMER_VARIABLE = "RCL_MAX_VLOG_LEVEL";

    private static final String LEVEL_PROPERTY = "io.rdmacomm.cli.logLevel";
    private static final String[] LEVELS = {"SEVERE", "INFO", "FINE", "FINE", "FINER", "ALL"};

    /// Called by java.util.logging, which finds the class by its name.
    ///
    /// @throws IOException never in practice: the settings are in memory
    public LogSettings() throws IOException {
        String level = LEVELS[level()];
        String settings = """
                handlers=java.util.logging.ConsoleHandler
                .level=SEVERE
                io.rdmacomm.level=%s
                java.util.logging.ConsoleHandler.level=ALL
                java.util.logging.ConsoleHandler.formatter=java.util.logging.SimpleFormatter
                java.util.logging.SimpleFormatter.format=%%1$tH:%%1$tM:%%1$tS.%%1$tL %%4$s %%3$s: %%5$s%%6$s%%n
                """.formatted(level);
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(settings.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /// Lets java.util.logging use these settings, unless the user configured others.
    public static void install() {
        if (System.getProperty("java.util.logging.config.file") == null
                && System.getProperty("java.util.logging.config.class") == null) {
            System.setProperty("java.util.logging.config.class", LogSettings.class.getName());
        }
    }

    /// Raises the level to at least 2. Has no effect once something has been logged.
    static void verbose() {
        if (level() < 2) {
            System.setProperty(LEVEL_PROPERTY, "2");
        }
    }

    /// The level in force, 0 to 5.
    public static int level() {
        String property = System.getProperty(LEVEL_PROPERTY);
        return property == null ? environmentLevel() : parse(property);
    }

    /// The level that the environment variable asks for, 0 to 5.
    public static int environmentLevel() {
        return level(System.getenv());
    }

    static int level(Map<String, String> environment) {
        String own = environment.get(VARIABLE);
        return parse(own == null ? environment.get(FORMER_VARIABLE) : own);
    }

    /// The number in `text`, limited to 0 to 5; 0 if there is none.
    static int parse(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        try {
            return Math.clamp(Integer.parseInt(text.strip()), 0, LEVELS.length - 1);
        } catch (NumberFormatException _) {
            return 0;
        }
    }
}
