package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.FileName;
import io.rdmacomm.cli.rig.Frame;

/// How a file has been stored.
///
/// @param name its name at the receiver
/// @param warning why its permissions or its time could not be set; empty if they were
record StoredFile(String name, String warning) {
    private static final int WARNED = 1;

    Frame<CopyMessage> toFrame(long number) {
        return Frame.of(CopyMessage.DONE, FileName.encode(name), number, warning.isEmpty() ? 0 : WARNED);
    }

    static StoredFile of(Frame<CopyMessage> frame) {
        boolean warned = (frame.number(1) & WARNED) != 0;
        return new StoredFile(Offer.name(frame), warned ? "the receiver's file system does not allow it" : "");
    }
}
