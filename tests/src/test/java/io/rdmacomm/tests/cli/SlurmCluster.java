package io.rdmacomm.tests.cli;

import io.rdmacomm.tests.fixture.Deadline;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// Slurm on this machine, with one node: its own configuration, keys, ports and processes, which end with it. It needs
/// root and Debian's slurmctld, slurmd, slurm-client and munge.
final class SlurmCluster implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 60_000;
    private static final long END_SECONDS = 10;

    private final Path folder;
    private final Path configuration;
    private final List<Process> daemons = new ArrayList<>();

    /// Starts it.
    ///
    /// @param folder an empty one for everything that it writes; other users have to be able to enter it
    SlurmCluster(Path folder) throws IOException {
        this.folder = folder;
        this.configuration = folder.resolve("slurm.conf");
        boolean started = false;
        try {
            start();
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    private void start() throws IOException {
        byte[] key = new byte[1024];
        new SecureRandom().nextBytes(key);
        Path keyFile = folder.resolve("munge.key");
        Files.write(keyFile, key);
        Files.setPosixFilePermissions(keyFile, PosixFilePermissions.fromString("r--------"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createDirectories(folder.resolve("state"));
        Files.createDirectories(folder.resolve("spool"));
        String name = InetAddress.getLocalHost().getHostName().replaceFirst("\\..*", "");
        Files.writeString(configuration, configuration(name));
        daemon(
                "munged",
                "--foreground",
                "--force",
                "--key-file=" + keyFile,
                "--socket=" + folder.resolve("munge.socket"),
                "--pid-file=" + folder.resolve("munged.pid"),
                "--seed-file=" + folder.resolve("munge.seed"));
        Deadline.await("munged to listen", () -> Files.exists(folder.resolve("munge.socket")));
        daemon("slurmctld", "-D", "-f", configuration.toString());
        daemon("slurmd", "-D", "-f", configuration.toString(), "-N", name);
        if (!Deadline.until(TIMEOUT_MILLIS, this::isIdle)) {
            throw new IOException("the node of Slurm does not become idle: " + complaints());
        }
    }

    private String configuration(String name) throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "ClusterName=rdmacomm",
                "SlurmctldHost=" + name + "(127.0.0.1)",
                "SlurmctldPort=" + freePort(),
                "SlurmdPort=" + freePort(),
                "SlurmUser=root",
                "AuthType=auth/munge",
                "AuthInfo=socket=" + folder.resolve("munge.socket"),
                "CredType=cred/munge",
                // The port of a mesh depends on the number of the job.
                "FirstJobId=" + (1 + new SecureRandom().nextInt(1_000_000)),
                "ProctrackType=proctrack/linuxproc",
                "TaskPlugin=task/none",
                "SelectType=select/cons_tres",
                "SwitchType=switch/none",
                "MpiDefault=none",
                "ReturnToService=2",
                "StateSaveLocation=" + folder.resolve("state"),
                "SlurmdSpoolDir=" + folder.resolve("spool")));
        for (String program : new String[] {"Slurmctld", "Slurmd"}) {
            lines.add(program + "PidFile=" + folder.resolve(program + ".pid"));
            lines.add(program + "LogFile=" + folder.resolve(program + ".log"));
        }
        lines.add("NodeName=" + name + " NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN");
        lines.add("PartitionName=all Nodes=" + name + " Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8");
        return String.join("\n", lines) + "\n";
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void daemon(String... command) throws IOException {
        daemons.add(new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(Redirect.appendTo(folder.resolve("daemons.log").toFile()))
                .start());
    }

    private boolean isIdle() {
        ProcessBuilder sinfo = new ProcessBuilder("sinfo", "--noheader", "--format=%T");
        sinfo.environment().putAll(environment());
        try {
            Process process = sinfo.redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return said.strip().equals("idle");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private String complaints() throws IOException {
        return Files.readString(folder.resolve("daemons.log")).strip();
    }

    /// The environment in which `srun` finds this cluster.
    Map<String, String> environment() {
        return Map.of("SLURM_CONF", configuration.toString());
    }

    /// Ends the daemons, the last one first.
    @Override
    public void close() {
        for (Process daemon : daemons.reversed()) {
            daemon.destroy();
            if (!hasEnded(daemon)) {
                daemon.destroyForcibly();
            }
        }
    }

    private static boolean hasEnded(Process daemon) {
        try {
            return daemon.waitFor(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
