package io.rdmacomm.tests.soak;

/// Where a worker reports what happens in a link.
interface Reporter {
    /// A rule was violated. `text` begins with the kind: lost, doubled, wrong, late, stuck, missed.
    void violation(String link, String text);

    /// All work of a link has ended, because its queue pair failed.
    ///
    /// @param noticed when the first failure was seen, as System.nanoTime, which all processes of a Linux host
    ///        share
    void ended(String link, long epoch, String status, long noticed);
}
