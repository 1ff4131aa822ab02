package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Rdma;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Prints the fabrics of the suite, and fails if a required provider is absent.
class ProvidersTest {
    private static final String REQUIRE = "rdma.test.require";

    /// Checked by LaunchersTest.
    private static final String LAUNCHERS = "launchers";

    @Test
    void printsTheFabricsOfTheSuite() {
        List<Fabric> present = Fabric.present().toList();
        for (Fabric fabric : Fabric.values()) {
            String why = fabric.absence();
            System.out.println("contract suite: " + fabric
                    + (present.contains(fabric) ? " runs" : " IS ABSENT" + (why.isEmpty() ? "" : ": " + why)));
        }
        for (String reason : Rdma.unavailable()) {
            System.out.println("contract suite: " + reason);
        }
        for (Device device : Rdma.devices()) {
            System.out.println("contract suite: " + device + " of provider " + device.provider());
        }
        assertThat(present).as("available fabrics").isNotEmpty();
    }

    @Test
    void everyRequiredProviderIsPresent() {
        Set<String> present = Fabric.present()
                .flatMap(fabric -> Stream.of(fabric.provider(), kind(fabric.device()), fabric.labName()))
                .collect(Collectors.toSet());
        List<String> required = Arrays.stream(System.getProperty(REQUIRE, "").split(",", -1))
                .map(String::strip)
                .filter(name -> !name.isEmpty() && !name.equals(LAUNCHERS))
                .toList();
        System.out.println("contract suite: required " + required + ", present " + present);
        assertThat(present)
                .as("providers that -D%s asks for; %s", REQUIRE, Rdma.unavailable())
                .containsAll(required);
    }

    @Test
    void theSuiteCoversEveryKindOfDeviceOfThisMachine() {
        Set<String> known = Arrays.stream(Fabric.values())
                .map(fabric -> kind(fabric.device()))
                .collect(Collectors.toSet());
        assertThat(Rdma.devices().stream().map(device -> kind(device.name()))).isSubsetOf(known);
    }

    /// `rxe` of `rxe0`, `mlx5` of `mlx5like0`.
    private static String kind(String device) {
        return device.replaceFirst("(like)?\\d+$", "");
    }
}
