package io.rdmacomm.cli.run;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/// The jar with the agent: the one beside the jar of this command, that jar itself, or one that only names the class
/// path of this command.
final class AgentJar {
    private static final String NAME = "rdmacomm-nio.jar";
    private static final String AGENT = "io.rdmacomm.nio.RdmaAgent";

    private AgentJar() {}

    /// The jar.
    ///
    /// @param folder for one that has to be written
    static Path find(Path folder) throws IOException {
        List<String> classPath = List.of(System.getProperty("java.class.path").split(File.pathSeparator));
        if (classPath.size() == 1 && classPath.getFirst().endsWith(".jar")) {
            Path command = Path.of(classPath.getFirst()).toAbsolutePath();
            Path agent = command.resolveSibling(NAME);
            return Files.exists(agent) ? agent : command;
        }
        List<String> entries = new ArrayList<>();
        for (String entry : classPath) {
            entries.add(Path.of(entry).toAbsolutePath().toUri().toString());
        }
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), AGENT);
        attributes.put(Attributes.Name.CLASS_PATH, String.join(" ", entries));
        Path jar = folder.resolve("agent.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream written = new JarOutputStream(file, manifest)) {
            written.finish();
        }
        return jar;
    }
}
