package io.rdmacomm.soft.mapped;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The folders whose locks this process holds. A lock belongs to the process, which loses it when it closes any
/// channel of the file (fcntl(2)), so nobody in the process may open it. That includes this class in another class
/// loader; hence the folders are in a system property, the one place that all class loaders share. Thread-safe.
final class OwnFolders {
    private static final String PROPERTY = "rdmacomm.soft.own-folders";
    /// In no path.
    private static final String SEPARATOR = "\0";

    private OwnFolders() {}

    /// @param folder its real path
    static void add(Path folder) {
        change(own -> Stream.concat(own, Stream.of(folder.toString())));
    }

    static void remove(Path folder) {
        String name = folder.toString();
        change(own -> own.filter(each -> !each.equals(name)));
    }

    static boolean contains(Path folder) {
        // Asked for each folder of the host: one search, instead of a path for each own folder.
        String own = SEPARATOR + System.getProperty(PROPERTY, "") + SEPARATOR;
        return own.contains(SEPARATOR + folder + SEPARATOR);
    }

    static List<Path> all() {
        return split(System.getProperty(PROPERTY, "")).map(Path::of).toList();
    }

    private static void change(UnaryOperator<Stream<String>> how) {
        Properties properties = System.getProperties();
        synchronized (properties) {
            List<String> changed =
                    how.apply(split(properties.getProperty(PROPERTY, ""))).toList();
            properties.setProperty(PROPERTY, String.join(SEPARATOR, changed));
        }
    }

    private static Stream<String> split(String value) {
        return Arrays.stream(value.split(SEPARATOR)).filter(each -> !each.isEmpty());
    }
}
