package io.rdmacomm.tests.comm;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Level;
import java.util.logging.Logger;

/// The warnings of sessions since this object was made. Until it is closed, they are not printed.
final class Warnings implements AutoCloseable {
    private final Logger logger = Logger.getLogger("io.rdmacomm.comm");
    private final List<String> messages = new CopyOnWriteArrayList<>();

    Warnings() {
        logger.setFilter(entry -> {
            if (entry.getLevel().intValue() >= Level.WARNING.intValue()) {
                messages.add(entry.getMessage());
            }
            return false;
        });
    }

    List<String> messages() {
        return messages;
    }

    @Override
    public void close() {
        logger.setFilter(null);
    }
}
