package io.rdmacomm.soft.mapped;

import java.nio.file.Path;
import java.security.Security;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/// The folders whose locks this process holds. A lock belongs to the process, which loses it when it closes any
/// channel of the file (fcntl(2)), so no other code in the process may open it. That includes this class in another
/// class loader. Hence the folders are in a security property: all class loaders share it, and unlike a system
/// property it is not passed on to processes that this one starts. Thread-safe.
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
        String own = SEPARATOR + text() + SEPARATOR;
        return own.contains(SEPARATOR + folder + SEPARATOR);
    }

    static List<Path> all() {
        return split(text()).map(Path::of).toList();
    }

    private static void change(UnaryOperator<Stream<String>> how) {
        Properties lock = System.getProperties();
        // Only because all class loaders share it.
        synchronized (lock) {
            List<String> changed = how.apply(split(text())).toList();
            Security.setProperty(PROPERTY, String.join(SEPARATOR, changed));
        }
    }

    private static String text() {
        String text = Security.getProperty(PROPERTY);
        return text == null ? "" : text;
    }

    private static Stream<String> split(String value) {
        return Arrays.stream(value.split(SEPARATOR)).filter(each -> !each.isEmpty());
    }
}
