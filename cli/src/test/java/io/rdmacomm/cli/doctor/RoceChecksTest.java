package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.doctor.Finding.Grade;
import io.rdmacomm.verbs.PathMtu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What doctor says about a software device with RoCE v2.
class RoceChecksTest {
    private static final String FAILURE = "UDP port 4791 of 10.0.0.5 is taken";

    @TempDir
    private Path folder;

    /// An address as the kernel of this processor writes it.
    private static String address(int bits) {
        int word = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.BIG_ENDIAN)
                .putInt(bits)
                .order(ByteOrder.nativeOrder())
                .getInt(0);
        return "%08X".formatted(word);
    }

    /// Sockets as in `/proc/net/udp`.
    private void sockets(String file, String... lines) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve("net")).resolve(file),
                "   sl  local_address rem_address   st ...\n" + String.join("\n", lines));
    }

    private static String socket(String address, String port, int user, int inode) {
        return "  594: %s:%s 00000000:0000 07 00000000:00000000 00:00000000 00000000  %d  0 %d 2 00 0"
                .formatted(address, port, user, inode);
    }

    private void process(int number, String name, int inode) throws IOException {
        Path process = folder.resolve(Integer.toString(number));
        Files.createDirectories(process.resolve("fd"));
        Files.writeString(process.resolve("comm"), name + "\n");
        Files.createSymbolicLink(process.resolve("fd/7"), Path.of("socket:[" + inode + "]"));
    }

    @Test
    void theProcessThatHasThePortIsNamed() throws IOException {
        sockets("udp", socket(address(0x0a00_0005), "12B7", 0, 4711), socket(address(0x0a00_0006), "0035", 0, 4712));
        process(99, "other", 4712);
        process(123, "java", 4711);

        Finding finding = RocePortOwner.taken(folder, folder.resolve("none"), FAILURE);

        assertThat(finding.grade()).isEqualTo(Grade.FAIL);
        assertThat(finding.text()).isEqualTo("UDP port 4791 is taken: 10.0.0.5 by process 123 (java)");
        assertThat(finding.remedy()).contains("ip addr add");
    }

    @Test
    void aSocketOfIpv6CanHaveAnAddressOfIpv4() throws IOException {
        String mapped = "0".repeat(16) + address(0xffff) + address(0x0a00_0005);
        String other = "0".repeat(8) + address(0x2001_0db8) + "0".repeat(8) + address(0x0a00_0006);
        sockets("udp6", socket(mapped, "12B7", 0, 4711), socket(other, "12B7", 0, 4712));
        process(123, "java", 4711);

        Finding finding = RocePortOwner.taken(folder, folder.resolve("none"), FAILURE);

        assertThat(finding.text()).isEqualTo("UDP port 4791 is taken: 10.0.0.5 by process 123 (java)");
    }

    @Test
    void aProcessOfAnotherUserIsNotVisible() throws IOException {
        sockets("udp", socket(address(0x0a00_0005), "12B7", 1001, 4711));

        Finding finding = RocePortOwner.taken(folder, folder.resolve("none"), FAILURE);

        assertThat(finding.text()).endsWith("10.0.0.5 by a process of user 1001 (not visible here)");
    }

    @Test
    void theKernelHasItAtAllAddresses() throws IOException {
        sockets("udp", socket("0".repeat(8), "12B7", 0, 4711));
        sockets("udp6", socket("0".repeat(32), "12B7", 0, 4712));

        Finding finding = RocePortOwner.taken(folder, Files.createDirectory(folder.resolve("rdma_rxe")), FAILURE);

        assertThat(finding.text()).contains("rdma_rxe", "all addresses");
        assertThat(finding.remedy()).contains("rmmod rdma_rxe");
    }

    @Test
    void aLoadedModuleThatDoesNotHaveThePortIsNotBlamed() throws IOException {
        sockets("udp", socket(address(0x0a00_0005), "12B7", 0, 4711));
        process(123, "java", 4711);

        Finding finding = RocePortOwner.taken(folder, Files.createDirectory(folder.resolve("rdma_rxe")), FAILURE);

        assertThat(finding.text()).contains("process 123 (java)");
    }

    @Test
    void whatTheDeviceSaysRemainsIfTheSystemTellsNothing() {
        assertThat(RocePortOwner.taken(folder, folder, FAILURE).text()).isEqualTo(FAILURE);
    }

    @Test
    void theMtuOfTheInterfaceDecides() {
        Finding usual = RoceChecks.mtu("eth0", 1500, PathMtu.MTU_1024);
        Finding jumbo = RoceChecks.mtu("eth0", 4200, PathMtu.MTU_4096);

        assertThat(usual.grade()).isEqualTo(Grade.OK);
        assertThat(usual.text()).contains("eth0 has MTU 1500", "up to 1024 bytes", "ip link set dev eth0 mtu 4200");
        assertThat(jumbo.text()).contains("up to 4096 bytes").doesNotContain("ip link");
    }

    /// As measured: Linux takes that many packets before it drops one.
    @Test
    void theBufferIsCountedInPackets() {
        Finding usual = RoceChecks.buffer(212_992, PathMtu.MTU_1024);
        Finding large = RoceChecks.buffer(4 << 20, PathMtu.MTU_4096);

        assertThat(usual.grade()).isEqualTo(Grade.WARN);
        assertThat(usual.text()).startsWith("208 KiB, about 184 packets of 1024 bytes");
        assertThat(usual.remedy()).contains("net.core.rmem_max=4194304");
        assertThat(large.grade()).isEqualTo(Grade.OK);
        assertThat(large.text()).isEqualTo("4 MiB, about 992 packets of 4096 bytes");
    }
}
