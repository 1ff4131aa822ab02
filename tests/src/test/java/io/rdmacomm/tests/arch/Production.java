package io.rdmacomm.tests.arch;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/// The classes that the rules apply to: all of rdmacomm except tests.
final class Production {
    static final String VERBS = "io.rdmacomm.verbs..";
    static final String SPI = "io.rdmacomm.verbs.spi..";
    static final String SOFT = "io.rdmacomm.soft..";
    static final String IBVERBS = "io.rdmacomm.ibverbs..";
    static final String FAULT = "io.rdmacomm.fault..";
    static final String NIO = "io.rdmacomm.nio..";
    static final String COMM = "io.rdmacomm.comm..";
    static final String MESH = "io.rdmacomm.mesh..";
    static final String CLI = "io.rdmacomm.cli..";
    static final String EXAMPLES = "io.rdmacomm.examples..";

    /// The only package that links native symbols.
    static final String NATIVE = "io.rdmacomm.ibverbs.ffm..";

    /// The workarounds for kernel drivers.
    static final String[] KERNEL_DRIVERS = {"io.rdmacomm.ibverbs.siw..", "io.rdmacomm.ibverbs.drivers.."};

    static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/"))
            .importPackages("io.rdmacomm");

    private Production() {}
}
