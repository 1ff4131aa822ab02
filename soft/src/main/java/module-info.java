/// The software provider: devices in pure Java with the semantics of verbs. Exports nothing; found as a service.
module io.rdmacomm.soft {
    requires static org.jspecify;
    requires io.rdmacomm.verbs;
    requires jdk.net;

    provides io.rdmacomm.verbs.spi.RdmaProvider with
            io.rdmacomm.soft.SoftProvider;
}
