package io.rdmacomm.tests.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Which package of the software device may see which. Each line of the diagram sees only those below it:
///
/// ```
/// soft                            the verbs objects
/// cm.ib                           connections by address over RoCE
/// cm                              the same over iWARP
/// shm   tcp   roce   datagram     the transports, which do not see each other
/// execution   roce.cm             the requests of peers on the network; the connection manager's protocol
/// transport   iwarp   roce.wire   roce.mad   the seam; the codecs
/// memory                          registered memory
/// mapped   linux                  files in shared memory; native calls
/// ```
class SoftArrowsTest {
    private static final String SOFT = "io.rdmacomm.soft";
    private static final String MAPPED = SOFT + ".mapped";
    private static final String MEMORY = SOFT + ".memory";
    private static final String TRANSPORT = SOFT + ".transport";
    private static final String IWARP = SOFT + ".iwarp";
    private static final String ROCE_WIRE = SOFT + ".roce.wire";
    private static final String SHM = SOFT + ".shm";
    private static final String TCP = SOFT + ".tcp";
    private static final String ROCE = SOFT + ".roce";
    private static final String EXECUTION = SOFT + ".execution";
    private static final String DATAGRAM = SOFT + ".datagram";
    private static final String CM = SOFT + ".cm";
    private static final String ROCE_MAD = ROCE + ".mad";
    private static final String ROCE_CM = ROCE + ".cm";
    private static final String LINUX = SOFT + ".linux";
    private static final String CM_IB = CM + ".ib";
    private static final JavaClasses CLASSES = new ClassFileImporter().importPackages(SOFT);

    @Test
    void mappedFilesKnowNothingOfTheDevice() {
        seesOfSoftOnly(MAPPED);
    }

    @Test
    void memoryKnowsNoTransport() {
        seesOfSoftOnly(MEMORY, MAPPED);
    }

    @Test
    void theSeamKnowsNoTransportInParticular() {
        seesOfSoftOnly(TRANSPORT, MEMORY, MAPPED);
    }

    @Test
    void codecsKnowNothingElse() {
        seesOfSoftOnly(IWARP);
        seesOfSoftOnly(ROCE_WIRE);
        seesOfSoftOnly(ROCE_MAD);
    }

    @Test
    void codecsKnowNoSockets() {
        noClasses()
                .that()
                .resideInAnyPackage(IWARP, ROCE_WIRE, ROCE_MAD)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.net..", "java.nio.channels..")
                .because("they encode and decode what is in memory")
                .check(CLASSES);
    }

    @Test
    void sharedMemoryDoesNotKnowTcp() {
        seesOfSoftOnly(SHM, TRANSPORT, MEMORY, MAPPED, LINUX);
    }

    @Test
    void tcpDoesNotKnowSharedMemory() {
        seesOfSoftOnly(TCP, EXECUTION, TRANSPORT, IWARP, MEMORY, MAPPED);
    }

    @Test
    void roceKnowsNoOtherTransport() {
        seesOfSoftOnly(ROCE, EXECUTION, TRANSPORT, ROCE_WIRE, ROCE_MAD, ROCE_CM, LINUX, MEMORY, MAPPED);
    }

    @Test
    void nativeCallsKnowNothingElse() {
        seesOfSoftOnly(LINUX);
    }

    @Test
    void theProtocolOfTheConnectionManagerKnowsNoQueuePairs() {
        seesOfSoftOnly(ROCE_CM, ROCE_MAD);
    }

    @Test
    void requestsAreExecutedWhateverTheirWire() {
        seesOfSoftOnly(EXECUTION, TRANSPORT, MEMORY, MAPPED);
    }

    @Test
    void datagramsKnowNoConnections() {
        seesOfSoftOnly(DATAGRAM, TRANSPORT, MEMORY, MAPPED);
    }

    @Test
    void connectionsByAddressAreMadeOverTcp() {
        seesOfSoftOnly(CM, TCP, TRANSPORT, IWARP);
    }

    @Test
    void connectionsByAddressAreMadeOverRoce() {
        seesOfSoftOnly(CM_IB, CM, ROCE, ROCE_CM, ROCE_MAD);
    }

    /// A queue pair posts to the interface; only what sets a device up names the packages of the transports.
    @Test
    void aQueuePairKnowsNoTransportInParticular() {
        noClasses()
                .that()
                .haveFullyQualifiedName(SOFT + ".SoftQueuePair")
                .should()
                .dependOnClassesThat(implementationOfTheSeam())
                .because("a transport is chosen when the peer is known, and a third one must be one more package")
                .check(CLASSES);
    }

    private static DescribedPredicate<JavaClass> implementationOfTheSeam() {
        return assignableTo(TRANSPORT + ".Transport")
                .and(resideInAnyPackage(SHM, TCP, ROCE))
                .as("implementations of Transport");
    }

    /// The packages of soft that a package may use; the rules for the whole module cover the rest.
    private static void seesOfSoftOnly(String layer, String... below) {
        String[] allowed = Stream.concat(Stream.of(layer), Stream.of(below)).toArray(String[]::new);
        classes()
                .that()
                .resideInAPackage(layer)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(allowed)
                        .or(DescribedPredicate.not(resideInAPackage(SOFT + "..")))
                        .as("of " + String.join(", ", allowed) + ", or outside of " + SOFT))
                .check(CLASSES);
    }

    @Test
    void allPackagesHaveARule() {
        classes()
                .that()
                .resideInAPackage(SOFT + "..")
                .should()
                .resideInAnyPackage(
                        SOFT, MAPPED, MEMORY, TRANSPORT, IWARP, ROCE_WIRE, ROCE_MAD, ROCE_CM, LINUX, SHM, TCP, ROCE,
                        EXECUTION, DATAGRAM, CM, CM_IB)
                .check(CLASSES);
    }
}
