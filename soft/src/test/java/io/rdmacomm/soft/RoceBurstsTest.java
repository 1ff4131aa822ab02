package io.rdmacomm.soft;

/// The same packets if those of a burst leave together.
class RoceBurstsTest extends RoceDeviceTest {
    @Override
    boolean bursts() {
        return true;
    }
}
