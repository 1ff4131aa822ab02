package io.rdmacomm.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/// The version and the commit of this command, from the manifest of its jar.
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {"rdmacomm " + version() + " (commit " + commit() + ", Java " + Runtime.version() + ")"};
    }

    static String version() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /// The commit, or `unknown` if the command does not run from its own jar.
    static String commit() {
        String commit = null;
        try {
            commit = manifestEntry("Implementation-Commit");
        } catch (IOException _) {
            // Treat this like a missing manifest.
        }
        return commit == null ? "unknown" : commit;
    }

    private static @Nullable String manifestEntry(String name) throws IOException {
        var source = Version.class.getProtectionDomain().getCodeSource();
        if (source == null
                || source.getLocation() == null
                || !source.getLocation().getPath().endsWith(".jar")) {
            return null;
        }
        URI manifest = URI.create("jar:" + source.getLocation() + "!/META-INF/MANIFEST.MF");
        try (InputStream stream = manifest.toURL().openStream()) {
            return new Manifest(stream).getMainAttributes().getValue(name);
        }
    }
}
