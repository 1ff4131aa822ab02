package io.rdmacomm.tests.repeat;

import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.launcher.TagFilter.excludeTags;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/// Runs the fast tests of one module again and again, in a new random order each time, in turn alone and beside two
/// busy loops: `RepeatMain ROUNDS CLASSES [NAME]`, where CLASSES is the folder of the compiled tests, and NAME the
/// simple name of one class. Prints each failure when it happens, and in the end how often each test failed.
public final class RepeatMain {
    private RepeatMain() {}

    /// Ends the process with 0 if all tests passed each time, else with 1.
    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(arguments[0]);
        Path classes = Path.of(arguments[1]);
        String name = arguments.length > 2 ? Pattern.quote(arguments[2]) : ".*Test";
        Tally tally = new Tally(System.out);
        Thread summary = new Thread(tally::summarize, "summary");
        Runtime.getRuntime().addShutdownHook(summary);
        for (int round = 1; round <= rounds; round++) {
            // Rounds of a pair have one order, so that only the load differs.
            long seed = round % 2 == 1 ? new SecureRandom().nextInt(Integer.MAX_VALUE) : tally.seed();
            boolean busy = round % 2 == 0;
            tally.begin(seed, busy);
            long began = System.nanoTime();
            try (BusyLoops _ = busy ? BusyLoops.start(2) : BusyLoops.start(0)) {
                LauncherFactory.create().execute(request(classes, name, seed), tally);
            }
            System.out.printf(
                    "[repeat] round %d of %d, %s, seed %d: %s in %d s%n",
                    round,
                    rounds,
                    tally.where(),
                    seed,
                    tally.counts(),
                    Duration.ofNanos(System.nanoTime() - began).toSeconds());
        }
        // Threads of a test that failed may keep the process alive.
        System.exit(tally.allPassed() ? 0 : 1);
    }

    private static LauncherDiscoveryRequest request(Path classes, String name, long seed) {
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClasspathRoots(Set.of(classes)))
                .filters(includeClassNamePatterns("(.*\\.)?" + name), excludeTags("slow", "long"))
                .configurationParameter(MethodOrderer.Random.RANDOM_SEED_PROPERTY_NAME, Long.toString(seed))
                .configurationParameter("junit.jupiter.testmethod.order.default", MethodOrderer.Random.class.getName())
                .configurationParameter("junit.jupiter.testclass.order.default", ClassOrderer.Random.class.getName())
                .configurationParameter("junit.jupiter.execution.timeout.default", "2 m")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                .build();
    }
}
