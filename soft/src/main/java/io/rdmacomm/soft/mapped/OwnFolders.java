package io.rdmacomm.soft.mapped;

import java.nio.file.Path;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/// The folders whose locks this process holds. A lock belongs to the process, which loses it when it closes any
/// channel of the file (fcntl(2)), so no other code in the process may open it. That includes this class in another
/// class loader. Hence the folders are in a security property: all class loaders share it, and unlike a system
/// property it is not passed on to processes that this one starts. Thread-safe.
final class OwnFolders {
    private static final String PROPERTY = "rdmacomm.soft.own-folders";
    /// A character that paths do not contain.
    private static final String SEPARATOR = "\0";

    private OwnFolders() {}

    /// @param folder its real path
    static void add(Path folder) {
        change(folder, true);
    }

    static void remove(Path folder) {
        change(folder, false);
    }

    static boolean contains(Path folder) {
        // Called for each folder of the host, so it searches the text instead of making a path for each own folder.
        String own = SEPARATOR + text() + SEPARATOR;
        return own.contains(SEPARATOR + folder + SEPARATOR);
    }

    static List<Path> all() {
        List<Path> all = new ArrayList<>();
        for (String own : split(text())) {
            all.add(Path.of(own));
        }
        return List.copyOf(all);
    }

    private static void change(Path folder, boolean held) {
        Properties lock = System.getProperties();
        // A lock that all class loaders share.
        synchronized (lock) {
            List<String> own = split(text());
            if (held) {
                own.add(folder.toString());
            } else {
                own.removeAll(List.of(folder.toString()));
            }
            Security.setProperty(PROPERTY, String.join(SEPARATOR, own));
        }
    }

    private static String text() {
        String text = Security.getProperty(PROPERTY);
        return text == null ? "" : text;
    }

    private static List<String> split(String value) {
        return value.isEmpty() ? new ArrayList<>() : new ArrayList<>(List.of(value.split(SEPARATOR)));
    }
}
