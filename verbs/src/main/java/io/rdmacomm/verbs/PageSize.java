package io.rdmacomm.verbs;

/// The pages that a device allocates memory in ([ProtectionDomain#allocate(long, java.util.Set, PageSize)]).
public enum PageSize {
    /// The usual pages of the system, 4 KiB on most machines.
    NORMAL,
    /// Huge pages of the system's default size, 2 MiB on x86-64 (`Hugepagesize` in proc_meminfo(5)). An
    /// adapter keeps the addresses of pages in a cache of limited size; with huge pages, large memory fits.
    /// The administrator reserves them: `sysctl vm.nr_hugepages=N`.
    HUGE
}
