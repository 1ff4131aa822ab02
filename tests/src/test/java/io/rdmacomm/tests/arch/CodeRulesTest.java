package io.rdmacomm.tests.arch;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static io.rdmacomm.tests.arch.Production.CLASSES;
import static io.rdmacomm.tests.arch.Production.CLI;
import static io.rdmacomm.tests.arch.Production.EXAMPLES;
import static io.rdmacomm.tests.arch.Production.NATIVE;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.service.SystemSockets;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Calls that are forbidden in main code, and why.
class CodeRulesTest {
    /// Used only if the program has native access anyway.
    private static final String NATIVE_SOFT = "io.rdmacomm.soft.linux";

    /// Replaces the process by the program that the user runs.
    private static final String RUN = "io.rdmacomm.cli.run";
    /// The start of the agent, which is not a library: the JVM aborts if it throws an exception.
    private static final String AGENT_START = "io.rdmacomm.nio.AgentStart";

    @Test
    void onlyThreePackagesUseRestrictedNativeAccess() {
        noClasses()
                .that()
                .resideOutsideOfPackages(NATIVE, NATIVE_SOFT, RUN)
                .should()
                .dependOnClassesThat()
                .haveNameMatching("java\\.lang\\.foreign\\.(Linker|SymbolLookup)(\\$.*)?")
                .orShould()
                .accessTargetWhere(calls(MemorySegment.class, "reinterpret"))
                .orShould()
                .accessTargetWhere(calls(AddressLayout.class, "withTargetLayout"))
                .orShould()
                .accessTargetWhere(calls(System.class, "load(Library)?"))
                .orShould()
                .accessTargetWhere(calls(Runtime.class, "load(Library)?"))
                .because("all other code runs without --enable-native-access and cannot crash the JVM")
                .check(CLASSES);
    }

    @Test
    void whatTheCommandDoesUsesTheOptionsThatWereGiven() {
        noClasses()
                .that()
                .resideInAPackage(CLI)
                .and()
                .haveNameNotMatching(".*\\.(\\w+Command|CopyOptions|DeviceOptions)")
                .should()
                .accessTargetWhere(calls(ChannelOptions.class, "defaults"))
                .orShould()
                .accessTargetWhere(calls(ConnectionOptions.class, "defaults"))
                .orShould()
                .accessTargetWhere(calls(PathOptions.class, "defaults"))
                .orShould()
                .accessTargetWhere(calls(RetryOptions.class, "defaults"))
                .orShould()
                .accessTargetWhere(calls(SessionOptions.class, "defaults"))
                .because("options made of the defaults lose the port, the GID or the MTU that was asked for")
                .check(CLASSES);
    }

    @Test
    void noClassUsesInternalsOfTheJdk() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("sun..", "jdk.internal..")
                .because("the next JDK may break it")
                .check(CLASSES);
    }

    @Test
    void onlyTheCommandTalksToTheTerminal() {
        noClasses()
                .that()
                .resideOutsideOfPackages(CLI, EXAMPLES)
                .and()
                .doNotHaveFullyQualifiedName(AGENT_START)
                .should(ACCESS_STANDARD_STREAMS)
                .because("a library reports by return value, exception or System.Logger")
                .check(CLASSES);
    }

    /// They would recurse in a JVM whose sockets are RDMA connections.
    @Test
    void theLibraryOpensItsSocketsInOnePlace() {
        noClasses()
                .that()
                .resideOutsideOfPackages(CLI, EXAMPLES)
                .and()
                .areNotAssignableTo(SystemSockets.class)
                .should()
                .accessTargetWhere(calls(SocketChannel.class, "open"))
                .orShould()
                .accessTargetWhere(calls(ServerSocketChannel.class, "open"))
                .orShould()
                .accessTargetWhere(calls(DatagramChannel.class, "open"))
                .orShould()
                .accessTargetWhere(calls(Selector.class, "open"))
                .orShould()
                .accessTargetWhere(calls(Pipe.class, "open"))
                .orShould()
                .accessTargetWhere(calls(SelectorProvider.class, "provider"))
                .because("a program may have another provider for all sockets of the JVM; use SystemSockets")
                .check(CLASSES);
    }

    @Test
    void onlyTheCommandEndsTheProcess() {
        noClasses()
                .that()
                .resideOutsideOfPackages(CLI, EXAMPLES)
                .and()
                .doNotHaveFullyQualifiedName(AGENT_START)
                .should()
                .accessTargetWhere(calls(System.class, "exit"))
                .orShould()
                .accessTargetWhere(calls(Runtime.class, "exit|halt"))
                .because("one failed completion must not end the whole program")
                .check(CLASSES);
    }

    @Test
    void logsGoToSystemLogger() {
        noClasses()
                .that()
                .resideOutsideOfPackage(CLI)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.util.logging..", "org.slf4j..", "org.apache.logging..", "org.apache.log4j..")
                .because("the program that uses rdmacomm chooses where its logs go")
                .check(CLASSES);
    }

    @Test
    void onlyTheSafeLoggerLogs() {
        noClasses()
                .that()
                .resideOutsideOfPackages(CLI, EXAMPLES, "io.rdmacomm.verbs.service")
                .should()
                .accessTargetWhere(calls(System.class, "getLogger"))
                .because("a log that fails must not end the thread that logs")
                .check(CLASSES);
    }

    @Test
    void noClassSleeps() {
        noClasses()
                .that()
                .resideOutsideOfPackage(EXAMPLES)
                .should()
                .accessTargetWhere(calls(Thread.class, "sleep"))
                .orShould()
                .accessTargetWhere(calls(TimeUnit.class, "sleep"))
                .because("code waits for a condition, with a deadline, and wakes when the condition holds")
                .check(CLASSES);
    }

    @Test
    void nothingIsFreedByTheGarbageCollector() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.ref.Cleaner")
                .orShould()
                .accessTargetWhere(calls(Arena.class, "ofAuto"))
                .because("owners close what they registered with a device, in order")
                .check(CLASSES);
    }

    private static DescribedPredicate<JavaAccess<?>> calls(Class<?> owner, String methods) {
        return targetOwner(assignableTo(owner))
                .and(target(nameMatching(methods)))
                .as("calls %s.%s", owner.getSimpleName(), methods);
    }
}
