package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.command.FailureText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Finds the owner of the UDP port of RoCE v2 on this host with proc(5) and sysfs(5).
final class RocePortOwner {
    /// A socket of either kind can hold an IPv4 address.
    private static final List<String> SOCKETS = List.of("net/udp", "net/udp6");

    private static final Pattern PORT =
            Pattern.compile("(?:0{16}.{8})?([0-9A-F]{8}):%04X".formatted(RoceAnswer.ROCE_PORT));
    private static final int LOCAL = 1;
    private static final int USER = 7;
    private static final int INODE = 9;
    private static final String EVERYWHERE = "00000000";

    /// A socket that holds the port.
    ///
    /// @param address in hexadecimal, as the kernel writes it
    /// @param owner the process, or its user if the process is not visible
    /// @param isProcess whether the owner is a known process
    private record Holder(String address, String owner, boolean isProcess) {}

    private RocePortOwner() {}

    /// Explains why the port is taken.
    ///
    /// @param processes `/proc`
    /// @param kernel `/sys/module/rdma_rxe`
    /// @param failure the message of the device
    static Finding taken(Path processes, Path kernel, String failure) {
        List<Holder> holders = holders(processes);
        boolean byKernel = Files.exists(kernel)
                && holders.stream().anyMatch(each -> each.address().equals(EVERYWHERE) && !each.isProcess());
        if (byKernel) {
            return Finding.fail(
                    RoceChecks.PORT,
                    "the kernel's rdma_rxe has UDP port " + RoceAnswer.ROCE_PORT + " at all addresses of this host",
                    "use its device (rdma link; rdmacomm devices), or unload it: rmmod rdma_rxe");
        }
        String text = holders.isEmpty()
                ? failure
                : "UDP port " + RoceAnswer.ROCE_PORT + " is taken: "
                        + holders.stream()
                                .map(each -> address(each.address()) + " by " + each.owner())
                                .collect(Collectors.joining(", "));
        return Finding.fail(
                RoceChecks.PORT,
                text,
                "an address belongs to one process: end it, or give this device an address of its own: ip addr add"
                        + " 10.0.0.6/24 dev eth0, on loopback 127.0.0.2");
    }

    private static List<Holder> holders(Path processes) {
        return SOCKETS.stream()
                .flatMap(file -> HostFile.lines(processes.resolve(file)).stream())
                .map(line -> line.strip().split("\\s+"))
                .filter(fields -> fields.length > INODE)
                .flatMap(fields -> holder(processes, fields).stream())
                .toList();
    }

    private static Optional<Holder> holder(Path processes, String[] fields) {
        Matcher local = PORT.matcher(fields[LOCAL]);
        if (!local.matches()) {
            return Optional.empty();
        }
        String address = local.group(1);
        String process = process(processes, "socket:[" + fields[INODE] + "]");
        return Optional.of(
                process.isEmpty()
                        ? new Holder(address, "a process of user " + fields[USER] + " (not visible here)", false)
                        : new Holder(address, process, true));
    }

    /// The process that has a socket open; empty if it is not visible to this one.
    private static String process(Path processes, String socket) {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(processes, "[0-9]*")) {
            for (Path process : all) {
                if (has(process, socket)) {
                    return "process " + process.getFileName() + " (" + name(process) + ")";
                }
            }
        } catch (IOException _) {
            // The processes are not visible.
        }
        return "";
    }

    private static boolean has(Path process, String socket) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path file : files) {
                if (Files.isSymbolicLink(file)
                        && Files.readSymbolicLink(file).toString().equals(socket)) {
                    return true;
                }
            }
        } catch (IOException | DirectoryIteratorException _) {
            // It has ended, or belongs to another user.
        }
        return false;
    }

    private static String name(Path process) {
        try {
            return FailureText.oneLine(Files.readString(process.resolve("comm")).strip());
        } catch (IOException _) {
            return "it has ended";
        }
    }

    /// An address from `/proc/net/udp`, in the byte order of the processor.
    private static String address(String hexadecimal) {
        if (hexadecimal.equals(EVERYWHERE)) {
            return "all addresses";
        }
        ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
        bytes.putInt(Integer.parseUnsignedInt(hexadecimal, 16));
        try {
            return InetAddress.getByAddress(bytes.array()).getHostAddress();
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }
}
