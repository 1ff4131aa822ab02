package io.rdmacomm.tests.lab;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.launcher.TagFilter.excludeTags;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.TestName;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs compiled test classes and packages without Maven: `LabMain NAME...`, where each name is a class, a method
/// (`class#method`) or a package. Prints failures, and the counts in Maven's format.
public final class LabMain {
    /// The tag of the cases to exclude.
    private static final String LEFT_OUT = System.getProperty("rdma.test.exclude", "none");
    private static final long SLOW_MILLIS = 5000;
    private static final long LEFT_MILLIS = 5000;

    private LabMain() {}

    /// Runs the tests and ends the process with 0 if all passed, else with 1.
    public static void main(String[] names) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(Arrays.stream(names).flatMap(LabMain::selectors).toList())
                .filters(includeClassNamePatterns(".*Test"), excludeTags(LEFT_OUT))
                .configurationParameter("junit.jupiter.execution.timeout.default", "4 m")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                .build();
        // Outside the lab there may be no device.
        if ("yes".equals(System.getenv("LAB"))) {
            Resources.letLibrdmacmOpenDevices();
        }
        Resources before = Resources.now();
        Report report = new Report(System.out);
        LauncherFactory.create().execute(request, report);
        boolean clean = nothingIsLeft(before);
        System.exit(report.end() && clean ? 0 : 1);
    }

    /// Returns whether the kernel has no more verbs objects than before.
    private static boolean nothingIsLeft(Resources before) {
        if (Deadline.until(LEFT_MILLIS, () -> Resources.now().leftBy(before))) {
            System.out.println("[lab] " + Resources.COMMAND + ": no objects are left open");
            return true;
        }
        System.out.println(
                "[ERROR] " + Resources.COMMAND + " shows\n" + Resources.now() + "and before the tests\n" + before);
        return false;
    }

    private static Stream<DiscoverySelector> selectors(String name) {
        int mark = name.indexOf('#');
        if (mark >= 0) {
            return methods(name.substring(0, mark), name.substring(mark + 1));
        }
        String last = name.substring(name.lastIndexOf('.') + 1);
        return Stream.of(
                Character.isUpperCase(last.charAt(0))
                        ? DiscoverySelectors.selectClass(name)
                        : DiscoverySelectors.selectPackage(name));
    }

    /// Selects methods with any parameters; a selector by name finds only methods without parameters.
    private static Stream<DiscoverySelector> methods(String className, String name) {
        Class<?> type = ReflectionSupport.tryToLoadClass(className).getOrThrow(IllegalArgumentException::new);
        List<Method> found = ReflectionSupport.findMethods(
                type, method -> method.getName().equals(name), HierarchyTraversalMode.TOP_DOWN);
        if (found.isEmpty()) {
            throw new IllegalArgumentException(className + " has no method " + name);
        }
        return found.stream().map(method -> DiscoverySelectors.selectMethod(type, method));
    }

    /// Counts results. Prints each failure when it happens and each class when it is done, so that the output
    /// is useful even if the run is stopped.
    private static final class Report implements TestExecutionListener {
        private static final int LONGEST_REASON = 400;
        private static final String INVOCATION = "class-template-invocation";

        private final PrintStream out;
        private final List<String> failures = new ArrayList<>();
        private final Map<String, Long> started = new HashMap<>();
        private @Nullable TestPlan plan;
        private int run;
        private int skipped;
        private int runBefore;

        Report(PrintStream out) {
            this.out = out;
        }

        @Override
        public void testPlanExecutionStarted(TestPlan testPlan) {
            plan = testPlan;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            started.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skipped++;
            out.println("[SKIPPED] " + name(test) + ": " + reason);
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            long millis = (System.nanoTime() - started.get(test.getUniqueId())) / 1_000_000;
            if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
                executionSkipped(
                        test, result.getThrowable().map(Throwable::getMessage).orElse(""));
                return;
            }
            run += test.isTest() ? 1 : 0;
            if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                failures.add(
                        name(test) + result.getThrowable().map(Report::reason).orElse(""));
                out.println("[ERROR] " + name(test) + " after " + millis + " ms");
                result.getThrowable().ifPresent(thrown -> thrown.printStackTrace(out));
            } else if (test.isTest() && millis > SLOW_MILLIS) {
                out.println("[slow] " + name(test) + " took " + millis + " ms");
            }
            if (isInvocation(test)) {
                out.println("[lab] " + name(test) + ": " + (run - runBefore) + " tests in " + millis + " ms");
                runBefore = run;
            }
        }

        /// The failure in a line, for whoever sees only the end of the output.
        private static String reason(Throwable thrown) {
            String where = Stream.of(thrown.getStackTrace())
                    .filter(frame -> frame.getClassName().endsWith("Test"))
                    .findFirst()
                    .map(frame -> " at " + frame.getFileName() + ":" + frame.getLineNumber())
                    .orElse("");
            String text = thrown.toString().strip().replaceAll("\\s+", " ");
            return ": " + text.substring(0, Math.min(text.length(), LONGEST_REASON)) + where;
        }

        private static boolean isInvocation(TestIdentifier test) {
            return INVOCATION.equals(test.getUniqueIdObject().getLastSegment().getType());
        }

        private String name(TestIdentifier test) {
            return TestName.of(test, plan);
        }

        boolean end() {
            failures.forEach(failure -> out.println("[ERROR] failed: " + failure));
            out.printf("Tests run: %d, Failures: %d, Errors: 0, Skipped: %d%n", run, failures.size(), skipped);
            return failures.isEmpty() && run > 0;
        }
    }
}
