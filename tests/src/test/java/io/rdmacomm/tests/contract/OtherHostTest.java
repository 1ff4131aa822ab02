package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.HelperProcess;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.tests.fixture.LocalEnd;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.PrivateMemory;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Software devices with default settings in two network namespaces: they use shared memory if they can,
/// otherwise TCP.
@ExtendWith(LeakCheck.class)
class OtherHostTest {
    private static final String DEVICES = "rdmacomm.soft.devices";
    private static final String DEVICE = "host0";
    private static final ConnectionOptions PATIENT =
            ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(4), 7);

    private String devices;
    private FarNamespace far;

    @BeforeEach
    void reach() {
        if (!Fabric.TCP_TWO_NAMESPACES.isPresent()) {
            throw LeftOut.because(
                    OtherHostTest.class, Fabric.TCP_TWO_NAMESPACES + " is absent: " + FarNamespace.absence());
        }
        far = FarNamespace.orLeaveOut(OtherHostTest.class);
        devices = System.setProperty(DEVICES, DEVICE + "=" + far.near());
    }

    @AfterEach
    void restore() {
        if (devices != null) {
            System.setProperty(DEVICES, devices);
        } else if (far != null) {
            System.clearProperty(DEVICES);
        }
    }

    @Test
    void containersWithACommonShmFolderUseSharedMemory() {
        try (HelperProcess process = far.start(DEVICE + "=" + far.far(), PrivateMemory.folder())) {
            assertThat(writesToAStopped(process))
                    .as("a write into shared memory needs no thread of the target")
                    .isTrue();
        }
    }

    @Test
    void hostsWithoutACommonShmFolderUseTcp() throws IOException {
        Path itsOwn = Files.createTempDirectory(Path.of("/dev/shm"), "rdmacomm-far-");
        try {
            try (HelperProcess process = far.start(DEVICE + "=" + far.far(), itsOwn)) {
                assertThat(writesToAStopped(process))
                        .as("a write over TCP needs a thread of the target")
                        .isFalse();
            }
        } finally {
            // Empty again: the process has closed its device.
            Files.delete(itsOwn);
        }
    }

    /// Writes to a stopped process, then lets it continue.
    ///
    /// @return whether the write completed while the process was stopped
    private static boolean writesToAStopped(HelperProcess process) {
        try (LocalEnd here = LocalEnd.open(DEVICE);
                End there = process.host().open(DEVICE)) {
            LocalQueue mine = here.queue(Spec.usual());
            EndQueue theirs = there.queue(Spec.usual());
            mine.connect(theirs.info(), PATIENT);
            theirs.connect(mine.info(), PATIENT);
            LocalMemory source = here.allocate(64, AccessFlag.allRemote());
            EndMemory target = there.allocate(64, AccessFlag.allRemote());
            source.setLong(0, 4711);
            var to = target.remote();
            mine.post(Work.write(1, to, source.piece(0, 8)));
            assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
            process.freeze();
            boolean ended;
            try {
                mine.post(Work.write(2, to.slice(8, 8), source.piece(0, 8)));
                List<Outcome> outcomes = mine.collect(1, 300);
                assertThat(outcomes).allMatch(outcome -> outcome.status() == WorkStatus.SUCCESS);
                ended = !outcomes.isEmpty();
            } finally {
                process.thaw();
            }
            if (!ended) {
                assertThat(mine.one().status()).isEqualTo(WorkStatus.SUCCESS);
            }
            assertThat(target.getLong(8)).isEqualTo(4711);
            return ended;
        }
    }
}
