package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.ByteSize;
import io.rdmacomm.cli.command.Environment;
import io.rdmacomm.verbs.statistics.MemoryRoom;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// The checks of `rdmacomm doctor` on the machine and the limits of its kernel.
final class MachineChecks {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final long LOW_SHARED_MEMORY = 256L << 20;

    private MachineChecks() {}

    static List<Finding> all() {
        List<Finding> findings = new ArrayList<>();
        findings.add(java());
        findings.add(cores());
        findings.add(sharedMemory());
        findings.add(lockedMemory());
        findings.add(hugePages());
        findings.addAll(RdmaLimits.findings());
        findings.add(addresses());
        return findings;
    }

    private static Finding java() {
        String text = Runtime.version() + " in " + System.getProperty("java.home");
        if (Runtime.version().feature() < 25) {
            return Finding.fail("Java", text, "install JDK 25 or newer and set JAVA_HOME to it");
        }
        return Finding.ok("Java", text);
    }

    private static Finding cores() {
        int cores = Runtime.getRuntime().availableProcessors();
        String text = cores + (cores == 1 ? " core of " : " cores of ") + Environment.cpu();
        if (cores < 2) {
            return Finding.warn(
                    "cores",
                    text,
                    "two polling processes need one core each; on a single core, use work mode ADAPTIVE and expect"
                            + " milliseconds");
        }
        return Finding.ok("cores", text);
    }

    private static Finding sharedMemory() {
        String subject = SHARED_MEMORY.toString();
        if (!Files.isDirectory(SHARED_MEMORY)) {
            return Finding.fail(subject, "does not exist", "mount it: mount -t tmpfs tmpfs /dev/shm");
        }
        try {
            FileStore store = Files.getFileStore(SHARED_MEMORY);
            Path probe = Files.createTempFile(SHARED_MEMORY, "rdmacomm-doctor-", "");
            Files.delete(probe);
            return room(store.getUsableSpace(), store.getTotalSpace(), MemoryRoom.left());
        } catch (IOException e) {
            return Finding.fail(subject, "not writable: " + e.getMessage(), "make it writable: chmod 1777 /dev/shm");
        }
    }

    /// Reports how much shared memory is free, and whether the machine or a control group has memory for it.
    static Finding room(long free, long total, MemoryRoom memory) {
        String subject = SHARED_MEMORY.toString();
        String text = ByteSize.format(free) + " free of " + ByteSize.format(total);
        if (memory.bytes() < free) {
            text += ", but " + memory.owner() + " has only " + ByteSize.format(memory.bytes()) + " left";
        }
        if (free < LOW_SHARED_MEMORY) {
            return Finding.warn(
                    subject, text, "enlarge it: mount -o remount,size=2G /dev/shm (docker run --shm-size=2g)");
        }
        if (memory.bytes() < LOW_SHARED_MEMORY) {
            return Finding.warn(
                    subject,
                    text,
                    memory.isOfGroup()
                            ? "raise the memory limit of this container or service (docker run --memory=...,"
                                    + " resources.limits.memory of a pod, MemoryMax= of systemd)"
                            : "end other programs");
        }
        return Finding.ok(subject, text + ", writable");
    }

    private static Finding lockedMemory() {
        String subject = "locked memory";
        String soft = limit("Max locked memory");
        if (soft.isEmpty()) {
            return Finding.warn(subject, "unknown limit: there is no /proc/self/limits", "");
        }
        if (soft.equals("unlimited")) {
            return Finding.ok(subject, "unlimited");
        }
        return Finding.warn(
                subject,
                "limited to " + ByteSize.format(Long.parseLong(soft)),
                "sufficient for the software device; hardware devices lock registered memory, 320 KiB for a"
                        + " socket over RDMA: raise the limit with ulimit"
                        + " -l unlimited (limits.conf: memlock; docker run --ulimit memlock=-1)");
    }

    /// A limit of this process; empty if the system does not report it.
    static String limit(String name) {
        String line = lineOf("/proc/self/limits", name);
        return line.isEmpty() ? "" : line.substring(name.length()).strip().split("\\s+", 2)[0];
    }

    private static Finding hugePages() {
        String subject = "huge pages";
        String total = numberOf("HugePages_Total");
        if (total.isEmpty()) {
            return Finding.ok(subject, "not supported by this kernel; not required");
        }
        String size = numberOf("Hugepagesize");
        if (total.equals("0")) {
            return Finding.ok(subject, "none reserved; not required (sysctl vm.nr_hugepages=N reserves some)");
        }
        return Finding.ok(subject, numberOf("HugePages_Free") + " free of " + total + ", " + size + " KiB each");
    }

    private static Finding addresses() {
        List<String> found = new ArrayList<>();
        try (Stream<NetworkInterface> interfaces = NetworkInterface.networkInterfaces()) {
            interfaces
                    .filter(MachineChecks::isUp)
                    .forEach(each -> each.inetAddresses().forEach(address -> found.add(name(each, address))));
        } catch (IOException e) {
            return Finding.fail("addresses", "cannot be listed: " + e.getMessage(), "");
        }
        if (found.isEmpty()) {
            return Finding.fail("addresses", "no interface is up", "bring one up: ip link set lo up");
        }
        return Finding.ok("addresses", String.join(", ", found));
    }

    private static boolean isUp(NetworkInterface each) {
        try {
            return each.isUp();
        } catch (IOException _) {
            return false;
        }
    }

    private static String name(NetworkInterface each, InetAddress address) {
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        return (scope < 0 ? text : text.substring(0, scope)) + " (" + each.getName() + ")";
    }

    private static String numberOf(String name) {
        String line = lineOf("/proc/meminfo", name + ":");
        return line.isEmpty() ? "" : line.substring(name.length() + 1).strip().split("\\s+", 2)[0];
    }

    private static String lineOf(String file, String start) {
        try (Stream<String> lines = Files.lines(Path.of(file))) {
            return lines.filter(line -> line.startsWith(start)).findFirst().orElse("");
        } catch (IOException _) {
            return "";
        }
    }
}
