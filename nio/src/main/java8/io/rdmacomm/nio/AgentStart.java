package io.rdmacomm.nio;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * The first class of the agent that the JVM loads. It is compiled for Java 8, so that it can tell users of an older JVM
 * which version is needed: the other classes of the agent would only cause an UnsupportedClassVersionError. A JVM whose
 * agent throws an exception aborts with a core dump, so this prints a failure and exits with status 1 instead.
 */
public final class AgentStart {
    private static final int LEAST_VERSION = 25;

    private AgentStart() {}

    /**
     * Called by the JVM before the program ({@link java.lang.instrument}).
     *
     * @param rules the rules on the command line; null if there are none
     */
    public static void premain(String rules, Instrumentation instrumentation) {
        String failure = failure(rules, instrumentation);
        if (!failure.isEmpty()) {
            System.err.println("rdmacomm-nio.jar: " + failure);
            System.exit(1);
        }
    }

    /** Starts the agent. Returns the failure, or an empty string. */
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
