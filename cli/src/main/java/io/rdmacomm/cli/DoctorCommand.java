package io.rdmacomm.cli;

import io.rdmacomm.cli.Finding.Grade;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/// `rdmacomm doctor`: what this machine has and lacks for RDMA, and how to fix it.
@Command(
        name = "doctor",
        description = "Tell what this machine has and lacks for RDMA, and how to fix it.",
        footer = {"", "Exit code 1 only when no device works.", "", "Example:", "  rdmacomm doctor"})
final class DoctorCommand extends Subcommand {
    @Mixin
    private final JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        json.check();
        PrintWriter out = out();
        List<Finding> findings = new ArrayList<>(MachineChecks.all());
        findings.addAll(DeviceChecks.all());
        boolean works = findings.stream()
                .anyMatch(finding -> finding.subject().startsWith("device ") && finding.grade() != Grade.FAIL);
        if (!json.ownsStandardOutput()) {
            findings.forEach(finding -> print(finding, out));
            out.println(works ? "RDMA works on this machine." : "No device works: see what failed above.");
        }
        if (json.requested()) {
            Map<String, Object> document = new LinkedHashMap<>();
            document.put("schema", 1);
            document.put("environment", Environment.describe("", ""));
            document.put("works", works);
            document.put("findings", findings.stream().map(Finding::toMap).toList());
            json.write(document, out);
        }
        return works ? 0 : 1;
    }

    private static void print(Finding finding, PrintWriter out) {
        out.printf("%-4s  %-14s  %s%n", finding.grade(), finding.subject(), finding.text());
        if (!finding.remedy().isEmpty()) {
            out.printf("      %-14s  -> %s%n", "", finding.remedy());
        }
    }
}
