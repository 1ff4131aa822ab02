package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.drivers.HnsDriver;
import io.rdmacomm.ibverbs.drivers.IrdmaDriver;
import io.rdmacomm.ibverbs.drivers.ManaDriver;
import io.rdmacomm.ibverbs.drivers.Mlx5Driver;
import io.rdmacomm.ibverbs.drivers.RxeDriver;
import io.rdmacomm.ibverbs.objects.KernelDriver;
import io.rdmacomm.ibverbs.siw.SiwDriver;
import io.rdmacomm.verbs.spi.DeviceValues;

/// Chooses the [KernelDriver] of a device. The only class that names a kernel driver.
final class Drivers {
    /// The kernel's software RoCE device (`RXE_VENDOR_ID`).
    private static final int RXE = 0xffffff;
    /// The kernel's software iWARP device (`SIW_VENDOR_ID`).
    private static final int SIW = 0x626d74;
    /// The adapter of Microsoft Azure (`PCI_VENDOR_ID_MICROSOFT`).
    private static final int MANA = 0x1414;
    /// Ethernet adapters of Intel (`PCI_VENDOR_ID_INTEL`).
    private static final int IRDMA = 0x8086;
    /// Adapters of NVIDIA (Mellanox), by vendor id. mlx4 adapters also match; the mlx5 rules are harmless there.
    private static final int MELLANOX = 0x2c9;
    /// Adapters of HiSilicon (`PCI_VENDOR_ID_HUAWEI`).
    private static final int HNS = 0x19e5;
    /// InfiniBand and Omni-Path adapters of QLogic and Intel (qib, hfi1), which post with a system call.
    private static final int QLOGIC = 0x1175;

    private Drivers() {}

    /// The driver of a device that was just opened.
    static KernelDriver of(DeviceValues attributes) {
        return switch (attributes.vendorId) {
            case RXE -> new RxeDriver();
            case SIW -> new SiwDriver();
            case MANA -> new ManaDriver();
            case IRDMA -> new IrdmaDriver();
            case MELLANOX -> new Mlx5Driver(System.getenv(Mlx5Driver.SCATTER));
            case HNS -> new HnsDriver();
            case QLOGIC -> new KernelDriver(false);
            default -> new KernelDriver(true);
        };
    }
}
