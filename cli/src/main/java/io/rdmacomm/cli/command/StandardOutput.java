package io.rdmacomm.cli.command;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/// The standard output, which remembers why a write failed. A plain [PrintWriter] only reports that one failed.
public final class StandardOutput extends PrintWriter {
    private final Recorder recorder;

    /// Writes UTF-8, and flushes after each line.
    public StandardOutput() {
        this(new Recorder());
    }

    private StandardOutput(Recorder recorder) {
        super(recorder, true, StandardCharsets.UTF_8);
        this.recorder = recorder;
    }

    /// Why a write failed; empty if none did.
    String reason() {
        return recorder.reason;
    }

    private static final class Recorder extends OutputStream {
        private final FileOutputStream file = new FileOutputStream(FileDescriptor.out);
        private volatile String reason = "";

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            try {
                file.write(bytes, offset, length);
            } catch (IOException e) {
                reason = String.valueOf(e.getMessage());
                throw e;
            }
        }
    }
}
