package io.rdmacomm.verbs.statistics;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The control groups of this process, and their visible ancestors (cgroups(7)).
final class ControlGroups {
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
    private static final int OCTAL_DIGITS = 3;

    private ControlGroups() {}

    /// The folders of the groups whose limits for a controller apply, each before its parent. A controller is
    /// in the hierarchy of version 2 or in one of version 1. Folders of version 2 are returned even if it is
    /// not there.
    ///
    /// @param controller for example `memory`
    static List<Path> of(String controller) {
        return of(controller, KernelFile.lines(MEMBERSHIP), KernelFile.lines(MOUNTS));
    }

    /// @param membership the lines of `/proc/self/cgroup`
    /// @param mounts the lines of `/proc/self/mountinfo` (proc_pid_mountinfo(5))
    static List<Path> of(String controller, List<String> membership, List<String> mounts) {
        List<Path> groups = new ArrayList<>();
        for (String line : mounts) {
            String[] halves = line.split(" - ", 2);
            String[] fields = halves[0].split(" ", -1);
            String[] system = halves.length == 2 ? halves[1].split(" ", 3) : new String[0];
            if (fields.length < 5 || system.length < 3) {
                continue;
            }
            String path = path(controller, system, membership);
            if (path != null) {
                groups.addAll(upwards(unescaped(fields[4]), unescaped(fields[3]).toString(), path));
            }
        }
        return groups;
    }

    /// The path of the group in the hierarchy of a mount; null if that does not have the controller.
    private static @Nullable String path(String controller, String[] system, List<String> membership) {
        boolean second = system[0].equals("cgroup2");
        boolean first =
                system[0].equals("cgroup") && List.of(system[2].split(",")).contains(controller);
        if (!first && !second) {
            return null;
        }
        for (String line : membership) {
            String[] fields = line.split(":", 3);
            boolean found = fields.length == 3
                    && (second
                            ? fields[0].equals("0")
                            : List.of(fields[1].split(",")).contains(controller));
            if (found) {
                return fields[2];
            }
        }
        return null;
    }

    /// @param mount the mount point of the hierarchy, or of a part of it
    /// @param root the group at the mount point
    /// @param path the path of the group of this process
    private static List<Path> upwards(Path mount, String root, String path) {
        List<Path> groups = new ArrayList<>();
        // In a container, this is its own group, whose path may be outside of its namespace.
        Path above = Path.of(root);
        Path own = Path.of(path).normalize();
        Path group =
                own.startsWith(above) ? mount.resolve(above.relativize(own)).normalize() : mount;
        for (; group != null && group.startsWith(mount); group = group.getParent()) {
            if (Files.isDirectory(group)) {
                groups.add(group);
            }
        }
        return groups;
    }

    /// Replaces each `\\` with three octal digits by the character that they stand for.
    private static Path unescaped(String field) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            char c = field.charAt(i);
            if (c == '\\' && isOctal(field, i + 1)) {
                text.append((char) Integer.parseInt(field, i + 1, i + 1 + OCTAL_DIGITS, 8));
                i += OCTAL_DIGITS;
            } else {
                text.append(c);
            }
        }
        return Path.of(text.toString());
    }

    private static boolean isOctal(String field, int from) {
        if (from + OCTAL_DIGITS > field.length()) {
            return false;
        }
        for (int i = from; i < from + OCTAL_DIGITS; i++) {
            if (field.charAt(i) < '0' || field.charAt(i) > '7') {
                return false;
            }
        }
        return true;
    }
}
