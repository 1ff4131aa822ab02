package io.rdmacomm.tests.soak;

import java.nio.file.Path;

/// What a run does.
///
/// @param seconds how long it takes
/// @param rate requests of all links in a second
/// @param workers the number of processes on this host, at least 2; the first two are never killed
/// @param far whether there is one more in a network namespace, if possible
/// @param local whether there are links on this host, as opposed to links with the namespace only
/// @param least the messages without which the run has failed
record SoakOptions(
        double seconds, long seed, int rate, int workers, boolean far, boolean local, long least, Path directory) {
    static final String USAGE = """
            Usage: SoakMain MINUTES [OPTION...]

            Lets processes exchange random work over shared memory and TCP, kills, stops and continues them, cuts their
            cable, and checks that every operation ends once and every byte is right. Minutes may be a fraction.

                  --seed N        repeat the random choices of another run
                  --rate N        requests in a second, of all links together (16000)
                  --workers N     processes on this host (4)
                  --far-only      only links with the process in the network namespace
                  --no-far        no process in a network namespace
                  --least N       fail with fewer messages (1)
                  --out DIR       where the report goes (soak)

            -Drdma.test.cable="loss 1%" spoils the cable (tc-netem(8)).
            Exit status: 0 nothing is wrong, 1 something is, 2 wrong usage.
            """;

    /// The arguments are wrong.
    static final class MisusedException extends Exception {
        private static final long serialVersionUID = 1;

        MisusedException(String message) {
            super(message);
        }
    }

    static SoakOptions parse(String... arguments) throws MisusedException {
        double minutes = -1;
        long seed = System.nanoTime();
        int rate = 16_000;
        int workers = 4;
        boolean far = true;
        boolean local = true;
        long least = 1;
        Path directory = Path.of("soak");
        try {
            for (int i = 0; i < arguments.length; i++) {
                switch (arguments[i]) {
                    case "--seed" -> seed = Long.parseLong(arguments[++i]);
                    case "--rate" -> rate = Integer.parseInt(arguments[++i]);
                    case "--workers" -> workers = Integer.parseInt(arguments[++i]);
                    case "--least" -> least = Long.parseLong(arguments[++i]);
                    case "--out" -> directory = Path.of(arguments[++i]);
                    case "--far-only" -> local = false;
                    case "--no-far" -> far = false;
                    default -> {
                        if (minutes >= 0) {
                            throw new MisusedException("unknown argument '" + arguments[i] + "'");
                        }
                        minutes = Double.parseDouble(arguments[i]);
                    }
                }
            }
        } catch (NumberFormatException e) {
            throw new MisusedException("not a number: " + e.getMessage());
        } catch (ArrayIndexOutOfBoundsException e) {
            throw new MisusedException(arguments[arguments.length - 1] + " needs a value");
        }
        if (!(minutes > 0 && minutes <= 10_000)) {
            throw new MisusedException("give the minutes, more than 0 and at most 10000");
        }
        if (workers < 2 || workers > 8 || rate < 1 || (!far && !local)) {
            throw new MisusedException("2 to 8 workers, a rate of at least 1, and some links are needed");
        }
        return new SoakOptions(minutes * 60, seed, rate, workers, far, local, least, directory);
    }
}
