package io.rdmacomm.cli.interop;

import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// What `-T` of rstream can say, as a word or its first letter.
enum TestOption {
    /// Plain sockets.
    SOCKET,
    /// Wait with a selector.
    ASYNC,
    /// Wait in blocking calls.
    BLOCK,
    /// Do not wait: ask again and again.
    NONBLOCK,
    /// Resolve the address with the connection manager, as every RDMA socket does here.
    RESOLVE,
    /// Check the data.
    VERIFY,
    /// A process for each client.
    FORK;

    private String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Reads a word as rstream does, which also takes longer ones, like `blocking`.
    static final class Converter implements ITypeConverter<TestOption> {
        /// For picocli.
        Converter() {}

        @Override
        public TestOption convert(String text) {
            String given = text.toLowerCase(Locale.ROOT);
            return Arrays.stream(values())
                    .filter(option ->
                            given.length() == 1 ? option.word().startsWith(given) : given.startsWith(option.word()))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("'" + text
                            + "' is not one of socket, async, block, nonblock, resolve and verify, or the first"
                            + " letter of one"));
        }
    }
}
