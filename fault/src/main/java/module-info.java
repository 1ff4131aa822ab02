/// The fault provider: devices that wrap those of other providers and inject faults. Exports nothing; found as a
/// service.
module io.rdmacomm.fault {
    requires static org.jspecify;
    requires io.rdmacomm.verbs;

    provides io.rdmacomm.verbs.spi.RdmaProvider with
            io.rdmacomm.fault.FaultProvider;
}
