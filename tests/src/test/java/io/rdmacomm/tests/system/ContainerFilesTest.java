package io.rdmacomm.tests.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// The files for Kubernetes in `docs/container`: names that must agree do. `.ci/container-test` runs the Dockerfile.
class ContainerFilesTest {
    private static final Path FOLDER = Path.of("..", "docs", "container");

    static Stream<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".yaml")).toList().stream();
        }
    }

    private static List<Node> load(Path file) throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        List<Node> documents = new ArrayList<>();
        for (Object document : new Yaml(new SafeConstructor(options)).loadAll(Files.readString(file))) {
            documents.add(new Node(document));
        }
        return documents;
    }

    private static Node ofKind(List<Node> documents, String kind) {
        return documents.stream()
                .filter(each -> kind.equals(each.at("kind").value()))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyDocumentHasAKindAndAName(Path file) throws IOException {
        assertThat(load(file)).isNotEmpty().allSatisfy(document -> {
            assertThat(document.at("apiVersion").value()).isInstanceOf(String.class);
            assertThat(document.at("kind").value()).isInstanceOf(String.class);
            assertThat(document.at("metadata", "name").value()).isInstanceOf(String.class);
        });
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyContainerRunsTheCommand(Path file) throws IOException {
        for (Node document : load(file)) {
            Node pod = document.has("spec", "template") ? document.at("spec", "template", "spec") : document.at("spec");
            if (pod.has("containers")) {
                assertThat(pod.at("containers").items()).singleElement().satisfies(container -> {
                    assertThat(container.at("image").value()).isEqualTo("rdmacomm");
                    assertThat(container.at("command").items().getFirst().value())
                            .isEqualTo("rdmacomm");
                });
            }
        }
    }

    @Test
    void theMeshAgreesOnItsSizeAndItsNames() throws IOException {
        List<Node> documents = load(FOLDER.resolve("mesh-job.yaml"));
        Node service = ofKind(documents, "Service");
        Node job = ofKind(documents, "Job");
        Node pod = job.at("spec", "template", "spec");
        Node container = pod.at("containers").items().getFirst();
        Map<Object, Object> environment = new HashMap<>();
        container
                .at("env")
                .items()
                .forEach(each -> environment.put(
                        each.at("name").value(), each.at("value").value()));

        Object size = job.at("spec", "completions").value();
        assertThat(job.at("spec", "completionMode").value()).isEqualTo("Indexed");
        assertThat(job.at("spec", "parallelism").value()).isEqualTo(size);
        Object name = service.at("metadata", "name").value();
        assertThat(environment).isEqualTo(Map.of("RDMACOMM_SIZE", String.valueOf(size), "RDMACOMM_SERVICE", name));
        assertThat(pod.at("subdomain").value()).isEqualTo(name);
        assertThat(service.at("spec", "clusterIP").value()).isEqualTo("None");
        assertThat(service.at("spec", "selector", "job-name").value())
                .isEqualTo(job.at("metadata", "name").value());
        assertThat(container.at("volumeMounts").items()).singleElement().satisfies(mount -> {
            assertThat(mount.at("mountPath").value()).isEqualTo("/dev/shm");
            assertThat(pod.at("volumes").items())
                    .singleElement()
                    .satisfies(volume -> assertThat(volume.at("name").value())
                            .isEqualTo(mount.at("name").value()));
        });
    }

    /// A value in a document.
    private record Node(Object value) {
        Node at(String... path) {
            Object here = value;
            for (String key : path) {
                assertThat(here).as(String.join(".", path)).isInstanceOf(Map.class);
                here = ((Map<?, ?>) here).get(key);
                assertThat(here).as(String.join(".", path)).isNotNull();
            }
            return new Node(here);
        }

        boolean has(String... path) {
            Object here = value;
            for (String key : path) {
                here = here instanceof Map<?, ?> map ? map.get(key) : null;
            }
            return here != null;
        }

        List<Node> items() {
            assertThat(value).isInstanceOf(List.class);
            return ((List<?>) value).stream().<Node>map(Node::new).toList();
        }
    }
}
