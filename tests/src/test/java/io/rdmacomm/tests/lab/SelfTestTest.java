package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.ChildServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `rdmacomm doctor --device` on devices of the kernel.
@Tag("slow")
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class SelfTestTest {
    private static final String PATIENT = " --check-timeout 300 --set-up-timeout 120";

    @TempDir
    private Path folder;

    private List<?> failed(Path json) throws IOException {
        Map<String, Object> document = JSON.std.mapFrom(Files.readString(json));
        return ((List<?>) document.get("checks"))
                .stream()
                        .map(each -> (Map<?, ?>) each)
                        .filter(each -> each.get("grade").equals("FAILED"))
                        .map(each -> each.get("check"))
                        .toList();
    }

    @Test
    void rxePasses() throws IOException {
        Outcome outcome = NearCommand.run("doctor --device rxe0 --report " + folder.resolve("rxe") + PATIENT);

        System.out.println(outcome.text());
        outcome.assertGood();
        assertThat(outcome.text()).contains("14 ok, 0 FAILED, 0 not supported");
        assertThat(Files.readString(folder.resolve("rxe.txt"))).contains("libibverbs.so.1.", "librdmacm.so.1.");
    }

    /// The driver checks no right for READs (`siw_check_sgl_tx`), and the self-test finds that.
    @Test
    void siwFailsOnlyTheCheckOfWhatItDoesWrong() throws IOException {
        Outcome outcome = NearCommand.run("doctor --device siw0 --report " + folder.resolve("siw") + PATIENT);

        System.out.println(outcome.text());
        assertThat(outcome.exitCode()).as(outcome.text()).isEqualTo(1);
        assertThat(failed(folder.resolve("siw.json"))).as(outcome.text()).isEqualTo(List.of("READ without the right"));
    }

    /// As if the server were on another host.
    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void aPeerIsTestedLikeTheDeviceAlone(String device, String address) throws IOException {
        String serve = "doctor --serve --until-eof --device " + device + " --bind " + address
                + " --port 0 --set-up-timeout 120";
        try (ChildServer server = ChildServer.start(List.of(serve.split(" ", -1)))) {
            Outcome outcome = NearCommand.run("doctor --device " + device + " --peer " + address + ":" + server.port()
                    + " --report " + folder.resolve("peer") + PATIENT);

            System.out.println(outcome.text());
            assertThat(failed(folder.resolve("peer.json")))
                    .as(outcome.text())
                    .isEqualTo(device.startsWith("siw") ? List.of("READ without the right") : List.of());
        }
    }
}
