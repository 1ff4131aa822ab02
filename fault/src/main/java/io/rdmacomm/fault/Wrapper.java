package io.rdmacomm.fault;

import io.rdmacomm.verbs.spi.Driver;
import org.jspecify.annotations.Nullable;

/// A driver that injects faults into another one. It has the name of that driver, and closing it closes that
/// driver.
///
/// @param <D> the type of the other driver
abstract class Wrapper<D extends Driver> implements Driver {
    final D real;

    Wrapper(D real) {
        this.real = real;
    }

    @Override
    public void closing() {
        real.closing();
    }

    @Override
    public @Nullable String busyWith() {
        return real.busyWith();
    }

    @Override
    public void close() {
        real.close();
    }

    @Override
    public String toString() {
        return real.toString();
    }
}
