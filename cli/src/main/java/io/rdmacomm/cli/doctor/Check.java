package io.rdmacomm.cli.doctor;

/// One check of a device.
public interface Check {
    /// Its subject, in a few words.
    String name();

    /// Runs it. Blocks; [CheckRunner] ends the wait if it takes too long.
    ///
    /// @throws Exception the check has failed, or a verb of it
    Verdict run(Scene scene) throws Exception;
}
