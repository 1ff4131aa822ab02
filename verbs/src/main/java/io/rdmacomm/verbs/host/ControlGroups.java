package io.rdmacomm.verbs.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The control groups of this process, and their visible ancestors (cgroups(7)).
public final class ControlGroups {
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");
    private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

    private ControlGroups() {}

    /// The folders of the groups whose limits for a controller apply, each before its parent. A controller is
    /// in the hierarchy of version 2 or in one of version 1. Folders of version 2 are returned even if it is
    /// not there.
    ///
    /// @param controller for example `memory`
    public static List<Path> of(String controller) {
        return of(controller, lines(MEMBERSHIP), lines(MOUNTS));
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
            path(controller, system, membership)
                    .ifPresent(path -> groups.addAll(
                            upwards(unescaped(fields[4]), unescaped(fields[3]).toString(), path)));
        }
        return groups;
    }

    /// The path of the group in the hierarchy of a mount, if that has the controller.
    private static Optional<String> path(String controller, String[] system, List<String> membership) {
        boolean second = system[0].equals("cgroup2");
        boolean first =
                system[0].equals("cgroup") && List.of(system[2].split(",")).contains(controller);
        if (!first && !second) {
            return Optional.empty();
        }
        return membership.stream()
                .map(line -> line.split(":", 3))
                .filter(fields -> fields.length == 3)
                .filter(fields -> second
                        ? fields[0].equals("0")
                        : List.of(fields[1].split(",")).contains(controller))
                .map(fields -> fields[2])
                .findFirst();
    }

    /// @param mount the mount point of the hierarchy, or of a part of it
    /// @param root the group at the mount point
    /// @param path of the group of this process
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

    private static Path unescaped(String field) {
        return Path.of(OCTAL.matcher(field)
                .replaceAll(
                        found -> Matcher.quoteReplacement(Character.toString(Integer.parseInt(found.group(1), 8)))));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }
}
