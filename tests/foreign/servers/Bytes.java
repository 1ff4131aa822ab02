import java.util.Arrays;
import java.util.SplittableRandom;

/// Bytes that follow from a seed, so that another JVM can check them.
final class Bytes {
    private Bytes() {}

    static byte[] of(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    /// @throws AssertionError names the first byte that differs
    static void check(String name, byte[] expected, byte[] found) {
        int difference = Arrays.mismatch(expected, found);
        if (difference >= 0) {
            throw new AssertionError(name + ": " + found.length + " bytes instead of " + expected.length
                    + ", and byte " + difference + " is the first that differs");
        }
    }
}
