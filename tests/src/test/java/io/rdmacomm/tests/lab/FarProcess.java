package io.rdmacomm.tests.lab;

import io.rdmacomm.cli.RdmaCommand;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// JVMs in the network namespace `far`, where `soft0` is at the other end of siw0's cable. To the kernel they are
/// processes on another host. The two "hosts" share their folders, so shared memory is disabled.
final class FarProcess {
    /// The address of `soft0`.
    static final String ADDRESS = "10.8.0.2";

    private FarProcess() {}

    /// Starts the `main` of a class.
    ///
    /// @param checksum whether the device requests a checksum in each frame
    static HeardProcess start(boolean checksum, Class<?> main, String... words) throws IOException {
        return start("soft0=" + ADDRESS + "?sharedMemory=false&checksum=" + checksum, main, words);
    }

    /// Starts the `main` of a class with these devices.
    static HeardProcess start(String devices, Class<?> main, String... words) throws IOException {
        List<String> line = new ArrayList<>(List.of("ip", "netns", "exec", "far"));
        line.addAll(HeardProcess.java(main, "-Drdmacomm.soft.devices=" + devices));
        line.addAll(List.of(words));
        return HeardProcess.start(line);
    }

    /// Runs the command until it ends.
    static Outcome run(boolean checksum, String words) throws IOException, InterruptedException {
        try (HeardProcess client = start(checksum, RdmaCommand.class, words.split(" ", -1))) {
            return client.end();
        }
    }

    /// Starts the command as a server and waits until it listens.
    static HeardProcess serve(boolean checksum, String words) throws IOException {
        return start(checksum, RdmaCommand.class, words.split(" ", -1)).listening();
    }
}
