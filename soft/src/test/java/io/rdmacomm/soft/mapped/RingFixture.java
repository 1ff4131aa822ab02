package io.rdmacomm.soft.mapped;

import java.io.IOException;

/// A claimed folder with a control file, removed at the end of a test.
final class RingFixture implements AutoCloseable {
    final ShmDirectory directory;
    final ControlFile control;

    RingFixture() throws IOException {
        directory = ShmDirectory.claim();
        control = ControlFile.create(directory, 1, 2);
    }

    @Override
    public void close() throws IOException {
        control.close();
        directory.close();
    }
}
