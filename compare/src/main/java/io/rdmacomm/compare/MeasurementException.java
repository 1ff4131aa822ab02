package io.rdmacomm.compare;

/// A program did not give a figure; the message says which one and what it printed.
final class MeasurementException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MeasurementException(String message) {
        super(message);
    }
}
