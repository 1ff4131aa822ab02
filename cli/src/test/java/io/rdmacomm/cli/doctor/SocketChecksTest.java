package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.doctor.Finding.Grade;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SocketChecksTest {
    private static final String NETTY = "7f0 r-xp /tmp/libnetty_transport_native_epoll_x86_641.so (deleted)\n";
    private static final String SHADED =
            "7f1 r-xp /tmp/libio_grpc_netty_shaded_netty_transport_native_epoll_x86_642.so (deleted)\n";

    @TempDir
    private Path folder;

    private void process(int number, String arguments, String environment, String maps) throws IOException {
        Path process = Files.createDirectory(folder.resolve("" + number));
        Files.writeString(process.resolve("cmdline"), arguments.replace(' ', '\0'));
        Files.writeString(process.resolve("environ"), environment.replace(' ', '\0'));
        Files.writeString(process.resolve("maps"), maps);
    }

    @Test
    void aDeviceWithoutNetworkAddressNeedsRules() {
        Finding finding = SocketChecks.addresses("soft0", List.of());
        assertThat(finding.grade()).isEqualTo(Grade.WARN);
        assertThat(finding.remedy()).contains("rdmacomm run --rules");
        assertThat(SocketChecks.addresses("rxe0", List.of("10.9.0.1")).grade()).isEqualTo(Grade.OK);
    }

    @ParameterizedTest
    @CsvSource({"1024, WARN", "4096, OK", "1048576, OK", "unlimited, OK", "'', OK"})
    void fewOpenFilesAreReported(String limit, Grade grade) {
        assertThat(SocketChecks.openFiles(limit).grade()).isEqualTo(grade);
    }

    @Test
    void wrongOptionsAreReported() throws Exception {
        Path jar = Files.createFile(folder.resolve("rdmacomm.jar"));
        assertThat(SocketChecks.options("-Xmx1g -Dx=y")).isEmpty();
        assertThat(SocketChecks.options("\"-javaagent:" + jar + "=10.1.0.0/16,!*\""))
                .isEmpty();
        assertThat(SocketChecks.options("-javaagent:/no/such/rdmacomm-nio.jar"))
                .singleElement()
                .extracting(Finding::text)
                .asString()
                .contains("/no/such/rdmacomm-nio.jar is not there");
        assertThat(SocketChecks.options("-javaagent:" + jar + "=nowhere"))
                .singleElement()
                .extracting(Finding::text)
                .asString()
                .contains("'nowhere' is no address");
        assertThat(SocketChecks.options("-Dio.rdmacomm.nio.rules=:99999")).hasSize(1);
    }

    @Test
    void nativeTransportsOfNettyAreReportedWithTheirFlags() throws Exception {
        process(1, "java -javaagent:/opt/rdmacomm-nio.jar=* -jar x.jar", "", NETTY);
        process(2, "java -jar x.jar", "A=b JDK_JAVA_OPTIONS=-Dio.rdmacomm.nio.rules=*", SHADED);
        process(3, "java -javaagent:rdmacomm-nio.jar", "", NETTY + SHADED);
        process(4, "java -javaagent:rdmacomm-nio.jar", "", "7f0 r-xp /lib/libc.so.6\n");
        process(5, "java -jar netty.jar", "", NETTY);
        List<Finding> findings = SocketChecks.processes(folder);
        assertThat(findings)
                .extracting(Finding::subject)
                .containsExactlyInAnyOrder("process 1", "process 2", "process 3");
        assertThat(findings)
                .extracting(finding -> finding.subject() + " " + finding.remedy())
                .containsExactlyInAnyOrder(
                        "process 1 start it with -Dio.netty.transport.noNative=true",
                        "process 2 start it with -Dio.grpc.netty.shaded.io.netty.transport.noNative=true",
                        "process 3 start it with -Dio.netty.transport.noNative=true"
                                + " -Dio.grpc.netty.shaded.io.netty.transport.noNative=true");
    }
}
