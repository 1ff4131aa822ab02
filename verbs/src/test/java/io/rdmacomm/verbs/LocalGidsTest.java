package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The forms of an address in the tables of InfiniBand, iWARP and RoCE.
final class LocalGidsTest {
    private static final Gid PORT = new Gid(0xfe80L << 48, 0x0002_c903_0010_1111L);
    private static final Gid OTHER = new Gid(0xfe80L << 48, 0x0002_c903_0010_2222L);

    @TempDir
    private Path folder;

    private Gid ofPort(String address) throws Exception {
        Files.writeString(folder.resolve("address"), address + "\n");
        return LocalGids.ofPort(folder);
    }

    @Test
    void anInterfaceOverInfinibandHasTheGidOfItsPort() throws Exception {
        assertThat(LocalGids.ofPort(folder.resolve("none"))).isEqualTo(Gid.NONE);
        assertThat(ofPort("80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:10:11:11"))
                .isEqualTo(PORT);
        assertThat(ofPort("00:00:00:00:00:00")).as("of the loopback interface").isEqualTo(Gid.NONE);
        assertThat(ofPort("00:02:c9")).as("of another kind of network").isEqualTo(Gid.NONE);
        assertThat(ofPort("")).as("without a hardware address").isEqualTo(Gid.NONE);
    }

    @Test
    void anInterfaceOfAnIwarpAdapterHasTheGidOfItsPort() throws Exception {
        Gid card = ofPort("02:02:c9:10:11:11");
        assertThat(card).isEqualTo(new Gid(0x0202_c910_1111_0000L, 0));
        LocalGids local = new LocalGids(new Gid(0, 0xffff_0a00_0001L), card, 5);
        assertThat(local.areHeldBy(new GidEntry(0, card, GidType.INFINIBAND, 0)))
                .isTrue();
        assertThat(local.areHeldBy(new GidEntry(0, OTHER, GidType.INFINIBAND, 0)))
                .isFalse();
        LocalGids loopback = new LocalGids(new Gid(0, 0xffff_7f00_0001L), Gid.NONE, 1);
        assertThat(loopback.areHeldBy(new GidEntry(0, Gid.NONE, GidType.INFINIBAND, 0)))
                .as("an empty entry")
                .isFalse();
    }

    @Test
    void thePortUnderTheAddressIsChosen() {
        LocalGids local = new LocalGids(new Gid(0, 0xffff_0a00_0001L), PORT, 5);
        assertThat(local.areHeldBy(new GidEntry(0, PORT, GidType.INFINIBAND, 0)))
                .isTrue();
        assertThat(local.areHeldBy(new GidEntry(0, OTHER, GidType.INFINIBAND, 0)))
                .isFalse();
        assertThat(local.areHeldBy(new GidEntry(0, OTHER, GidType.INFINIBAND, 5)))
                .as("iWARP, on that interface")
                .isTrue();
        assertThat(local.areHeldBy(new GidEntry(0, OTHER, GidType.ROCE_V2, 5)))
                .as("another address of that interface")
                .isFalse();
        List<GidEntry> table =
                List.of(new GidEntry(0, OTHER, GidType.INFINIBAND, 0), new GidEntry(1, PORT, GidType.INFINIBAND, 0));
        assertThat(GidChoice.choose(table, local)).isEqualTo(1);
        assertThat(GidChoice.choose(table, LocalGids.NONE)).isZero();
    }

    @Test
    void anAddressOfThisMachineHasAnInterface() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        LocalGids local = LocalGids.of(loopback);
        assertThat(local.routed()).isEqualTo(Gid.of(loopback));
        assertThat(local.networkInterface())
                .isEqualTo(NetworkInterface.getByInetAddress(loopback).getIndex());
        assertThat(local.port()).isEqualTo(Gid.NONE);
    }
}
