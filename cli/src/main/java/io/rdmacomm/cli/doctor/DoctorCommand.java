package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.DeviceOptions;
import io.rdmacomm.cli.command.InputWatch;
import io.rdmacomm.cli.command.JsonOption;
import io.rdmacomm.cli.command.ListenOptions;
import io.rdmacomm.cli.command.PeerAddress;
import io.rdmacomm.cli.command.Subcommand;
import io.rdmacomm.cli.devices.DeviceDescription;
import io.rdmacomm.cli.doctor.Finding.Grade;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `rdmacomm doctor`: checks the RDMA support of this machine, and tests a device.
@Command(
        name = "doctor",
        description = {
            "Check what this machine offers for RDMA, what it lacks, and how to fix it.",
            "",
            "With --device, test that device: transfers, the status of each fault, flush, overrun, close under traffic,"
                    + " 100 sessions and a short benchmark, on every active port. With --peer, the same between two"
                    + " hosts, on the first active port or on --ib-port. Nothing else should use the device meanwhile.",
            "",
            "For a software device with RoCE v2 also: who has its UDP port, its MTU, its receive buffer, and with"
                    + " --peer whether the peer answers RoCE at all, with or without a program there."
        },
        footer = {
            "",
            "The exit code is 1 only if no device works, or a check of the self-test has failed.",
            "",
            "Examples:",
            "  rdmacomm doctor",
            "  rdmacomm doctor --device mlx5_0 --report adapter        a self-test, and two files for an issue",
            "  rdmacomm doctor --device mlx5_0 --serve                 on one host, and on another:",
            "  rdmacomm doctor --device mlx5_0 --peer node7 --report two-hosts",
            "  rdmacomm doctor --device roce0 --peer node7             does node7 answer RoCE v2?"
        })
public final class DoctorCommand extends Subcommand {
    // On a slow machine, a new server can be too busy to answer at once.
    private static final Duration HANDSHAKE = Duration.ofSeconds(30);

    @Mixin
    private final SelfTestOptions selfTest = new SelfTestOptions();

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ListenOptions listen = new ListenOptions();

    @Mixin
    private final DeviceOptions device = new DeviceOptions();

    private final List<String> lines = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        json.check();
        boolean wanted = !device.device().isEmpty() || selfTest.peer() != null || selfTest.isServer();
        selfTest.check(wanted);
        if (!wanted && !device.arguments().isEmpty()) {
            throw usage(device.arguments().getFirst() + " is an option of the self-test: name a device with --device");
        }
        if (isGiven("--port") && !selfTest.isServer()) {
            throw usage("--port is an option of --serve");
        }
        if (!wanted) {
            return checkMachine();
        }
        device.excludeConnectionPort("the self-test, which uses any free port");
        SessionOptions options = device.apply(SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withDeadlines(Deadlines.defaults().withHandshake(HANDSHAKE)));
        if (selfTest.isServer()) {
            serve(options);
            return 0;
        }
        return test(options);
    }

    private int checkMachine() throws IOException {
        List<Finding> findings = new ArrayList<>(MachineChecks.all());
        findings.addAll(SpeedChecks.all());
        List<Finding> devices = DeviceChecks.devices();
        findings.addAll(DeviceChecks.providers());
        findings.addAll(devices);
        findings.addAll(DeviceChecks.roce());
        findings.addAll(SocketChecks.all());
        boolean works = devices.stream().anyMatch(finding -> finding.grade() != Grade.FAIL);
        findings.forEach(this::print);
        print(works ? whatWorks() : "No device works; see the failures above.");
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("works", works);
        result.put("findings", findings.stream().map(Finding::toMap).toList());
        json.write("", "", result, output());
        return works ? 0 : 1;
    }

    private static String whatWorks() {
        if (!Rdma.devices().stream().allMatch(DeviceChecks::isSoftware)) {
            return "RDMA works on this machine.";
        }
        return Rdma.devices().stream().allMatch(RoceChecks::isRoce)
                ? "No RDMA adapter. The software device works, with RoCE v2 packets."
                : "No RDMA adapter. The software device works: over shared memory on this host, over TCP between"
                        + " hosts.";
    }

    private void serve(SessionOptions options) {
        SessionOptions here = SelfTest.onPort(options, servedPort());
        try (SelfTestServer server = new SelfTestServer(listen.apply(here), output());
                CloseOnExit _ = new CloseOnExit(server::close)) {
            output().println(listen.line(server.port(), options));
            if (selfTest.endsWithInput()) {
                InputWatch.onEnd(server::close);
            }
            server.run();
        }
    }

    /// The device port to serve on.
    private int servedPort() {
        int given = device.connection().path().port();
        if (isGiven("--ib-port") || device.device().isEmpty()) {
            return given;
        }
        try (Context context = Rdma.open(device.device())) {
            return ActivePorts.of(context).stream().findFirst().orElse(given);
        }
    }

    private int test(SessionOptions options) throws IOException {
        Path name = selfTest.report();
        SelfTestReport report = name == null ? null : new SelfTestReport(name);
        List<Finding> findings = new ArrayList<>(MachineChecks.all());
        findings.addAll(SpeedChecks.all());
        findings.addAll(DeviceChecks.providers());
        Context context;
        try {
            context = open();
        } catch (VerbException e) {
            write(unopened(findings, e), report);
            return 1;
        }
        SelfTest test = new SelfTest(context, options, selfTest.limit(), output(), result -> print(result.toString()));
        try {
            findings.add(DeviceChecks.device(context.device()));
            if (RoceChecks.isRoce(context.device())) {
                findings.addAll(RoceChecks.of(context));
            }
            findings.forEach(this::print);
            run(test, context);
            print(summary(test.results()));
            boolean passed = test.results().stream().noneMatch(CheckResult::hasFailed);
            write(document(passed, context, findings, test.results()), report);
            return passed ? 0 : 1;
        } finally {
            if (!test.isStuck()) {
                context.close();
            }
        }
    }

    private void write(Map<String, Object> document, @Nullable SelfTestReport report) throws IOException {
        json.write(document, output());
        if (report != null) {
            report.write(lines, document);
            print("The report is in " + report + ".");
        }
    }

    private static Map<String, Object> document(
            boolean passed, Context context, List<Finding> findings, List<CheckResult> results) {
        Map<String, Object> members = members(passed, context.device(), findings, results);
        members.put("device", DeviceDescription.of(context));
        return JsonOption.document(context.device().provider(), context.device().name(), members);
    }

    private static Map<String, Object> members(
            boolean passed, Device device, List<Finding> findings, List<CheckResult> results) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("passed", passed);
        members.put("checks", results.stream().map(CheckResult::toMap).toList());
        members.put("findings", findings.stream().map(Finding::toMap).toList());
        members.put("system", SelfTestReport.system(device.name()));
        return members;
    }

    /// Reports why a RoCE device cannot be opened.
    ///
    /// @return the document
    /// @throws VerbException `failure`, if there is no better explanation
    private Map<String, Object> unopened(List<Finding> findings, VerbException failure) {
        String name = device.device();
        Device wanted = Rdma.devices().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> failure);
        List<Finding> reasons = RoceChecks.unopened(wanted, failure);
        if (reasons.isEmpty()) {
            throw failure;
        }
        findings.addAll(reasons);
        findings.forEach(this::print);
        return JsonOption.document(wanted.provider(), name, members(false, wanted, findings, List.of()));
    }

    private Context open() {
        PeerAddress peer = selfTest.peer();
        return device.open(
                        Capability.RELIABLE_CONNECTED,
                        () -> peer == null
                                ? InetAddress.getLoopbackAddress()
                                : peer.localAddress(PeerAddress.DEFAULT_PORT))
                .context();
    }

    private void run(SelfTest test, Context context) throws IOException {
        List<Integer> ports =
                isGiven("--ib-port") ? List.of(device.connection().path().port()) : ActivePorts.of(context);
        if (ports.isEmpty()) {
            throw new CommandFailure("no port of " + context.device().name()
                    + " is active: check the cable and the link: ip link, rdma link");
        }
        PeerAddress peer = selfTest.peer();
        if (peer != null) {
            test.runWith(peer, ports.getFirst());
            return;
        }
        for (int port : ports) {
            test.runAlone(port, listen.localAddress(), childArguments(port));
        }
    }

    private List<String> childArguments(int port) {
        List<String> arguments = new ArrayList<>(device.arguments());
        if (!isGiven("--ib-port")) {
            arguments.addAll(List.of("--ib-port", Integer.toString(port)));
        }
        return arguments;
    }

    private static String summary(List<CheckResult> results) {
        StringBuilder text = new StringBuilder();
        for (Verdict.Grade grade : Verdict.Grade.values()) {
            long count = results.stream()
                    .filter(result -> result.verdict().grade() == grade)
                    .count();
            text.append(text.isEmpty() ? "" : ", ").append(count).append(' ').append(grade.label());
        }
        return text.toString();
    }

    private void print(Finding finding) {
        print("%-4s  %-14s  %s".formatted(finding.grade(), finding.subject(), finding.text()));
        if (!finding.remedy().isEmpty()) {
            print("      %-14s  -> %s".formatted("", finding.remedy()));
        }
    }

    private void print(String line) {
        lines.add(line);
        if (!json.ownsStandardOutput()) {
            output().println(line);
        }
    }
}
