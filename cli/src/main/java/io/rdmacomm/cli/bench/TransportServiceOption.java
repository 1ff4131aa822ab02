package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.TransportService;
import io.rdmacomm.cli.command.ChoiceText;
import io.rdmacomm.cli.command.Excludes;
import io.rdmacomm.verbs.PathMtu;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// The option `--transport` of `rdmacomm bench`.
final class TransportServiceOption {
    private static final List<String> NEED_CONNECTIONS = List.of(
            "--server",
            "--matrix",
            "--qps",
            "--idle-qps",
            "--bidirectional",
            "--no-samples",
            "--work-mode",
            "--thread-mode",
            "--nodes");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--transport",
            paramLabel = "rc|uc|ud",
            converter = Converter.class,
            defaultValue = "rc",
            description = {
                "What carries the messages (default: rc):",
                "- rc: reliable connections.",
                "- uc: unreliable connections. send_lat, write_lat, send_bw and write_bw; WRITEs have immediate data.",
                "- ud: datagrams. send_lat and send_bw, with messages up to the path MTU.",
                "With uc and ud, messages can be lost; sent, received and lost ones are counted."
            })
    private TransportService service = TransportService.RC;

    /// The chosen service.
    TransportService service() {
        return service;
    }

    /// Rejects tests and sizes that do not work with the chosen service.
    ///
    /// @param sizes the message sizes
    /// @throws ParameterException if one does not
    void check(List<BenchTest> tests, List<Long> sizes) {
        checkOptions();
        for (BenchTest test : tests) {
            if (!service.allows(test)) {
                throw usage(test.label() + " cannot run over " + service.label() + ": choose from " + service.labels()
                        + ", or leave --transport out");
            }
        }
        for (long size : sizes) {
            int most = PathMtu.MTU_4096.bytes();
            if (service == TransportService.UD && size > most) {
                throw usage("size " + size + " does not fit into a datagram: no path has an MTU above " + most
                        + " bytes; use smaller --sizes, or --transport rc");
            }
        }
    }

    /// Rejects options that cannot be combined with the chosen service.
    ///
    /// @throws ParameterException if one was given
    void checkOptions() {
        if (!service.isReliable()) {
            Excludes.check(spec, "--transport " + service.label(), NEED_CONNECTIONS);
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /// Reads a transport service.
    static final class Converter implements ITypeConverter<TransportService> {
        /// For picocli.
        Converter() {}

        @Override
        public TransportService convert(String text) {
            return ChoiceText.parse(TransportService.class, text);
        }
    }
}
