package io.rdmacomm.cli.devices;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The tables of proc_net(5).
final class TcpStatisticsTest {
    private static final String SNMP = """
        Ip: Forwarding DefaultTTL
        Ip: 1 64
        Tcp: RtoAlgorithm InSegs OutSegs RetransSegs OutRsts
        Tcp: 1 100 200 7 9
        """;
    private static final String NETSTAT = """
        TcpExt: SyncookiesSent TCPFastRetrans TCPTimeouts
        TcpExt: 0 3 4
        """;

    @TempDir
    private Path folder;

    private void write(String snmp, String netstat) throws IOException {
        Files.writeString(folder.resolve("snmp"), snmp);
        Files.writeString(folder.resolve("netstat"), netstat);
    }

    @Test
    void bothTablesAreRead() throws IOException {
        write(SNMP, NETSTAT);
        assertThat(TcpStatistics.read(folder)).contains(new TcpStatistics(100, 200, 7, 3, 4, 9));
    }

    @Test
    void whatTheKernelDoesNotHaveIsZero() throws IOException {
        write(SNMP, "TcpExt: TCPFastRetrans TCPTimeouts\nTcpExt: none\n");
        assertThat(TcpStatistics.read(folder)).contains(new TcpStatistics(100, 200, 7, 0, 0, 9));
    }

    @Test
    void withoutTheTablesThereIsNothing() throws IOException {
        assertThat(TcpStatistics.read(folder)).isEmpty();
        write("Tcp: RetransSegs\n", "");
        assertThat(TcpStatistics.read(folder)).isEmpty();
    }

    @Test
    void thisHostHasSome() {
        if (Files.exists(Path.of("/proc/net/snmp"))) {
            assertThat(TcpStatistics.ofHost()).isPresent();
        } else {
            System.out.println("SKIPPED, this system has no /proc/net/snmp: TcpStatisticsTest.thisHostHasSome");
        }
    }
}
