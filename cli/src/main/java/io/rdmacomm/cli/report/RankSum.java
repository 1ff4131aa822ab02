package io.rdmacomm.cli.report;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// The rank-sum test of Wilcoxon, Mann and Whitney: whether the values of one sample tend to be larger than those
/// of another. Exact for small samples, and independent of how the values are distributed.
final class RankSum {
    private RankSum() {}

    /// The probability that two samples of the same distribution differ at least as much as these, in either
    /// direction.
    static double probability(List<Double> one, List<Double> other) {
        double[] all = Stream.concat(one.stream(), other.stream())
                .mapToDouble(Double::doubleValue)
                .sorted()
                .toArray();
        // Twice the ranks: equal values share the mean of their ranks, and twice that mean is a whole number.
        int[] ranks =
                Arrays.stream(all).mapToInt(value -> twiceTheRank(all, value)).toArray();
        int observed = one.stream().mapToInt(value -> twiceTheRank(all, value)).sum();
        double[] ways = waysToReachEachSum(ranks, one.size());
        int middle = one.size() * (all.length + 1);
        double extreme = 0;
        double sum = 0;
        for (int i = 0; i < ways.length; i++) {
            sum += ways[i];
            extreme += Math.abs(i - middle) >= Math.abs(observed - middle) ? ways[i] : 0;
        }
        return extreme / sum;
    }

    private static int twiceTheRank(double[] sorted, double value) {
        int below = 0;
        int equal = 0;
        for (double each : sorted) {
            below += each < value ? 1 : 0;
            equal += each == value ? 1 : 0;
        }
        return 2 * below + equal + 1;
    }

    /// For each sum, how many choices of `count` ranks have it.
    private static double[] waysToReachEachSum(int[] ranks, int count) {
        int most = Arrays.stream(ranks).sum();
        double[][] ways = new double[count + 1][most + 1];
        ways[0][0] = 1;
        for (int rank : ranks) {
            for (int chosen = count; chosen > 0; chosen--) {
                for (int i = most; i >= rank; i--) {
                    ways[chosen][i] += ways[chosen - 1][i - rank];
                }
            }
        }
        return ways[count];
    }
}
