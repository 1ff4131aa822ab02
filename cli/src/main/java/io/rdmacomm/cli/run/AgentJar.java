package io.rdmacomm.cli.run;

import io.rdmacomm.nio.RdmaSelectorProvider;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/// Finds the jar with the agent: the one beside the jar of this command, that jar itself, or one that only names
/// the class path of this command.
public final class AgentJar {
    /// The name of the jar that contains only the agent.
    public static final String NAME = "rdmacomm-nio.jar";

    private static final String AGENT = "io.rdmacomm.nio.AgentStart";

    private AgentJar() {}

    /// The jar with the agent that was built with this command; empty if the command runs from class folders.
    public static Optional<Path> built() {
        String classPath = System.getProperty("java.class.path");
        if (classPath.contains(File.pathSeparator) || !classPath.endsWith(".jar")) {
            return Optional.empty();
        }
        Path command = Path.of(classPath).toAbsolutePath();
        Path agent = command.resolveSibling(NAME);
        return Optional.of(Files.exists(agent) ? agent : command);
    }

    /// The jar, written if necessary.
    static Path find() throws IOException {
        Optional<Path> built = built();
        return built.isPresent() ? built.get() : write();
    }

    /// Writes the jar beside the classes of the agent. Nothing removes it, because the program uses it for as long
    /// as it runs.
    private static Path write() throws IOException {
        List<String> classPath = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
        List<String> entries = new ArrayList<>();
        for (String entry : classPath) {
            entries.add(Path.of(entry).toAbsolutePath().toUri().toString());
        }
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), AGENT);
        attributes.put(new Attributes.Name("Can-Retransform-Classes"), "true");
        attributes.put(Attributes.Name.CLASS_PATH, String.join(" ", entries));
        Path classes = Path.of(URI.create(RdmaSelectorProvider.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString()));
        Path jar = classes.resolveSibling("agent.jar");
        Path incomplete = Files.createTempFile(jar.getParent(), "agent", ".new");
        try (OutputStream file = Files.newOutputStream(incomplete);
                JarOutputStream written = new JarOutputStream(file, manifest)) {
            written.finish();
        }
        return Files.move(incomplete, jar, StandardCopyOption.ATOMIC_MOVE);
    }
}
