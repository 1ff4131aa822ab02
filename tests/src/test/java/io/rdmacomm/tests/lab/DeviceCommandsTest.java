package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/// `devices`, `info` and `watch` on real devices, compared with ibv_devinfo(1).
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class DeviceCommandsTest {
    private static final Pattern FIELD = Pattern.compile("\\s*([A-Za-z_0-9]+(?:\\[\\s*\\d+])?):\\s+(\\S.*)");
    private static final Pattern FLAG = Pattern.compile("\\s*[A-Z][A-Z_0-9]+");
    private static final Pattern PAGING = Pattern.compile("\\s*([a-z]+_odp_caps):\\s*");

    @ParameterizedTest
    @ValueSource(strings = {"rxe0", "siw0"})
    void infoPrintsTheSameAsDevinfo(String device) throws Exception {
        List<String> theirs = run("ibv_devinfo", "-v", "-d", device).lines().toList();
        Map<String, String> expected = fields(theirs);
        expected.putAll(paging(theirs));
        expected.putAll(unsupported(theirs));
        Map<String, String> found = fields(command("info", device).lines().toList());

        assertThat(expected)
                .hasSizeGreaterThan(65)
                .containsKeys("device_cap_flags_ex", "max_tso", "rx_hash_fields_mask", "max_wq_type_rq", "rc_odp_caps")
                .containsEntry("completion_timestamp_mask", "not supported");
        assertThat(found).containsAllEntriesOf(expected);
        assertThat(found.get("device_cap_flag_names")).isEqualTo(String.join(", ", deviceFlags(theirs)));
    }

    @Test
    void infoPrintsTheSameInJson() throws Exception {
        Map<String, String> text = fields(command("info", "rxe0").lines().toList());
        Map<String, Object> document = JSON.std.mapFrom(command("info", "rxe0", "--json", "-"));
        Map<?, ?> device = (Map<?, ?>) ((List<?>) document.get("devices")).getFirst();
        Map<?, ?> port = (Map<?, ?>) ((List<?>) device.get("port")).getFirst();

        for (String name : List.of("hca_id", "max_qp", "max_mr_size", "device_cap_flags", "atomic_cap")) {
            assertThat(device.get(name)).as(name).hasToString(text.get(name));
        }
        for (String name : List.of("state", "active_mtu", "link_layer", "gid_tbl_len", "phys_state")) {
            assertThat(port.get(name)).as(name).hasToString(text.get(name));
        }
        assertThat(port.get("GID[  1]")).isEqualTo("::ffff:10.9.0.1, RoCE v2");
    }

    @Test
    void devicesListsAllDevicesHardwareFirst() {
        assertThat(command("devices").lines().map(String::strip))
                .anyMatch(line -> line.matches("rxe0 .* ibverbs"))
                .anyMatch(line -> line.matches("siw0 .* ibverbs"))
                .last()
                .asString()
                .matches(".* soft");
    }

    @Test
    void watchSeesAPortGoDownAndUp() throws Exception {
        StringWriter out = new StringWriter();
        CompletableFuture<Integer> watching =
                CompletableFuture.supplyAsync(() -> execute(out, "watch", "rxe0", "--count", "2", "--duration", "60"));
        for (long tries = 0; !out.toString().contains("watching") && tries < 600; tries++) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        run("ip", "link", "set", "v0", "down");
        run("ip", "link", "set", "v0", "up");

        assertThat(watching.get(1, TimeUnit.MINUTES)).as(out.toString()).isZero();
        assertThat(out.toString().lines().skip(1))
                .satisfiesExactly(
                        down -> assertThat(down).contains("rxe0 port 1: PORT_ERROR"),
                        up -> assertThat(up).contains("rxe0 port 1: PORT_ACTIVE, now PORT_ACTIVE (4)"));
    }

    private static Map<String, String> fields(List<String> lines) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : lines) {
            Matcher field = FIELD.matcher(line);
            if (field.matches()) {
                String name = field.group(1);
                String value = field.group(2).strip();
                fields.putIfAbsent(name, name.startsWith("GID") ? gid(value) : value);
            }
        }
        return fields;
    }

    /// Normalizes IPv6 addresses, which have several spellings.
    private static String gid(String value) throws IOException {
        int comma = value.indexOf(',');
        return InetAddress.getByName(value.substring(0, comma)) + value.substring(comma);
    }

    /// On-demand paging: a line with a name, then one line per supported operation, or NO SUPPORT.
    private static Map<String, String> paging(List<String> lines) {
        Map<String, String> fields = new LinkedHashMap<>();
        String name = "";
        for (String line : lines) {
            Matcher start = PAGING.matcher(line);
            if (start.matches()) {
                name = start.group(1);
            } else if (!name.isEmpty() && line.startsWith("\t\t")) {
                fields.merge(name, line.strip(), (before, more) -> before + ", " + more);
            } else {
                name = "";
            }
        }
        return fields;
    }

    /// Attributes that ibv_devinfo(1) reports in a sentence if they are not supported.
    private static Map<String, String> unsupported(List<String> lines) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String line : lines) {
            switch (line.strip()) {
                case "completion_timestamp_mask not supported" ->
                    fields.put("completion_timestamp_mask", "not supported");
                case "core clock not supported" -> fields.put("hca_core_clock", "not supported");
                case "tag matching not supported" -> fields.put("tag_matching_caps", "not supported");
                default -> {
                    // A field like the others.
                }
            }
        }
        return fields;
    }

    private static List<String> deviceFlags(List<String> lines) {
        List<String> flags = new ArrayList<>();
        boolean among = false;
        for (String line : lines) {
            among = line.contains("device_cap_flags:")
                    || (among && FLAG.matcher(line).matches());
            if (among && !line.contains(":")) {
                flags.add(line.strip());
            }
        }
        return flags;
    }

    private static String command(String... arguments) {
        StringWriter out = new StringWriter();
        assertThat(execute(out, arguments)).as(out.toString()).isZero();
        return out.toString();
    }

    private static int execute(StringWriter out, String... arguments) {
        CommandLine commandLine = RdmaCommand.commandLine(arguments);
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(out, true));
        return commandLine.execute(arguments);
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }
}
