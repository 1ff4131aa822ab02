package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.rig.Frame;
import java.time.Duration;

/// Sends BUSY every few seconds while this side computes a checksum.
final class BusySignal implements Runnable {
    private static final long INTERVAL = Duration.ofSeconds(5).toNanos();

    private final CopyLink link;
    private long last = System.nanoTime();

    BusySignal(CopyLink link) {
        this.link = link;
    }

    @Override
    public void run() {
        if (System.nanoTime() - last > INTERVAL) {
            link.send(Frame.of(CopyMessage.BUSY));
            last = System.nanoTime();
        }
    }
}
