package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.Rounding;
import java.util.LinkedHashMap;
import java.util.Map;

/// The time of a test, in the columns of rstream.
///
/// @param test the test
/// @param nanos how long it took
record StreamResult(StreamTest test, long nanos) {
    static final String HEADER = "%-10s%10s%10s%10s%12s%10s%11s%12s"
            .formatted("name", "bytes", "xfers", "iters", "total", "time", "Gb/sec", "usec/xfer");

    /// 10^9 bits per second, of both directions together.
    private double gigabits() {
        return 8.0 * test.totalBytes() / nanos;
    }

    private double microsPerTransfer() {
        return nanos / 1e3 / test.totalTransfers();
    }

    String line() {
        return "%-10s%10d%10d%10d%12s%9.2fs%11.2f%12.2f"
                .formatted(
                        test.name(),
                        test.bytes(),
                        test.transfers(),
                        test.iterations(),
                        ByteSize.format(test.totalBytes()),
                        nanos / 1e9,
                        gigabits(),
                        microsPerTransfer());
    }

    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", test.name());
        members.put("bytes", test.bytes());
        members.put("transfers", test.transfers());
        members.put("iterations", test.iterations());
        members.put("total_bytes", test.totalBytes());
        members.put("seconds", nanos / 1e9);
        members.put("gbps", Rounding.rate(gigabits(), 3));
        members.put("us_per_transfer", Rounding.rate(microsPerTransfer(), 3));
        return members;
    }
}
