package io.rdmacomm.tests.soak;

import java.util.List;

/// Random work and random faults for a given time: `./check --soak MINUTES`.
public final class SoakMain {
    private SoakMain() {}

    public static void main(String[] arguments) throws Exception {
        System.exit(run(arguments));
    }

    /// Runs it. Returns the exit status.
    static int run(String... arguments) throws Exception {
        if (List.of(arguments).contains("--help")) {
            System.out.print(SoakOptions.USAGE);
            return 0;
        }
        SoakOptions options;
        try {
            options = SoakOptions.parse(arguments);
        } catch (SoakOptions.MisusedException e) {
            System.err.println("soak: " + e.getMessage() + "; see --help");
            return 2;
        }
        return new Soak(options).run() ? 0 : 1;
    }
}
