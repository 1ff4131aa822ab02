package io.rdmacomm.comm.setup;

import io.rdmacomm.verbs.service.SafeLogger;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;

/// Loads, on a thread of its own, the classes that a process uses until its first message. Most of the time of a first
/// connection is loading code: a server does it while it waits for its first client, a client while it talks to the
/// server. The classes are named in the file `classes-ahead.txt` beside this class, in the order of their use.
///
/// They are not initialized, because two threads that initialize classes can wait for each other.
public final class ClassesAhead {
    private static final SafeLogger LOGGER = SafeLogger.of(ClassesAhead.class);
    private static final AtomicBoolean BEGUN = new AtomicBoolean();

    private ClassesAhead() {}

    /// Begins, unless this process has done so before. Does not block.
    public static void load() {
        if (BEGUN.compareAndSet(false, true)) {
            Thread.ofPlatform()
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .name("classes-ahead")
                    .start(new Runnable() {
                        // Not a lambda: its hidden class would be made on the thread that must not wait.
                        @Override
                        public void run() {
                            loadAll();
                        }
                    });
        }
    }

    private static void loadAll() {
        try (InputStream in = ClassesAhead.class.getResourceAsStream("classes-ahead.txt")) {
            if (in == null) {
                return;
            }
            BufferedReader names = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
            for (String name = names.readLine(); name != null; name = names.readLine()) {
                load(name);
            }
        } catch (IOException | RuntimeException | Error e) {
            LOGGER.log(Level.DEBUG, "the classes of a first connection are loaded when it comes", e);
        }
    }

    private static void load(String name) {
        try {
            Class.forName(name, false, ClassesAhead.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            LOGGER.log(Level.TRACE, "the program does not have the provider of " + name, e);
        }
    }
}
