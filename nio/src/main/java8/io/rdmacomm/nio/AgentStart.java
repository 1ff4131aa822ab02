package io.rdmacomm.nio;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * The class of the agent that the JVM loads first. It is compiled for Java 8, so that an older JVM says which version
 * is needed; all other classes of the agent would only be an UnsupportedClassVersionError to it. A JVM whose agent
 * throws an exception aborts with a core dump, so a failure is a sentence and exit status 1 here.
 */
public final class AgentStart {
    private static final int LEAST_VERSION = 25;

    private AgentStart() {}

    /**
     * Called by the JVM before the program ({@link java.lang.instrument}).
     *
     * @param rules those of the command line; null if there are none
     */
    public static void premain(String rules, Instrumentation instrumentation) {
        String failure = failure(rules, instrumentation);
        if (!failure.isEmpty()) {
            System.err.println("rdmacomm-nio.jar: " + failure);
            System.exit(1);
        }
    }

    /** Starts the agent; the result is empty if that has worked. */
    private static String failure(String rules, Instrumentation instrumentation) {
        // 1.8, and 9, 11, 25 and so on.
        String version = System.getProperty("java.specification.version").replaceFirst("^1[.]", "");
        if (Integer.parseInt(version) < LEAST_VERSION) {
            return "RDMA sockets need Java " + LEAST_VERSION + " or newer, and this program runs on Java " + version
                    + ", " + System.getProperty("java.home") + ": start it with a newer one (PATH, JAVA_HOME)";
        }
        try {
            Class.forName("io.rdmacomm.nio.RdmaAgent")
                    .getMethod("premain", String.class, Instrumentation.class)
                    .invoke(null, rules, instrumentation);
            return "";
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            boolean explained = cause instanceof IllegalArgumentException || cause instanceof IllegalStateException;
            return explained ? cause.getMessage() : String.valueOf(cause);
        } catch (ReflectiveOperationException e) {
            return "the jar is incomplete: " + e;
        }
    }
}
