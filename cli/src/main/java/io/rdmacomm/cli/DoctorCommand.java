package io.rdmacomm.cli;

import io.rdmacomm.cli.Finding.Grade;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `rdmacomm doctor`: checks what this machine offers for RDMA and what it lacks.
@Command(
        name = "doctor",
        description = "Check what this machine offers for RDMA, what it lacks, and how to fix it.",
        footer = {"", "The exit code is 1 only if no device works.", "", "Example:", "  rdmacomm doctor"})
final class DoctorCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        json.check();
        List<Finding> findings = new ArrayList<>(MachineChecks.all());
        List<Finding> devices = DeviceChecks.devices();
        findings.addAll(DeviceChecks.providers());
        findings.addAll(devices);
        boolean works = devices.stream().anyMatch(finding -> finding.grade() != Grade.FAIL);
        if (!json.ownsStandardOutput()) {
            findings.forEach(this::print);
            output().println(works ? "RDMA works on this machine." : "No device works; see the failures above.");
        }
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("works", works);
        result.put("findings", findings.stream().map(Finding::toMap).toList());
        json.write("", "", result, output());
        return works ? 0 : 1;
    }

    private void print(Finding finding) {
        output().println("%-4s  %-14s  %s".formatted(finding.grade(), finding.subject(), finding.text()));
        if (!finding.remedy().isEmpty()) {
            output().println("      %-14s  -> %s".formatted("", finding.remedy()));
        }
    }
}
