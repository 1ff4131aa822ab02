package io.rdmacomm.cli.doctor;

/// One check of a device.
public interface Check {
    /// Its subject, in a few words.
    String name();

    /// Runs it. Blocks; [CheckRunner] ends the wait if it takes too long.
    ///
    /// @throws Exception if the check or one of its verbs failed
    Verdict run(CheckSetup setup) throws Exception;
}
