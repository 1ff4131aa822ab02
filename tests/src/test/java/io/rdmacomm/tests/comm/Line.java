package io.rdmacomm.tests.comm;

import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/// The connection between the two ends of a case in this process.
enum Line {
    /// A software device that shares memory with its peers.
    SHARED_MEMORY("soft0"),
    /// A software device that reaches its peers over TCP only.
    TCP("tcp0");

    private static final String DEVICES = "rdmacomm.soft.devices";

    static {
        String known = System.getProperty(DEVICES, "soft0=127.0.0.1");
        if (!known.contains("tcp0=")) {
            System.setProperty(DEVICES, known + ",tcp0=127.0.0.1?sharedMemory=false");
        }
    }

    private final String device;

    Line(String device) {
        this.device = device;
    }

    SessionOptions options(WorkMode work, ThreadMode thread) {
        return SessionOptions.defaults().withDevice(device).withWorkMode(work).withThreadMode(thread);
    }

    /// Every line with every work mode and every thread mode.
    static Stream<Arguments> modes() {
        return Arrays.stream(values())
                .flatMap(line -> Arrays.stream(WorkMode.values())
                        .flatMap(work ->
                                Arrays.stream(ThreadMode.values()).map(thread -> Arguments.of(line, work, thread))));
    }
}
