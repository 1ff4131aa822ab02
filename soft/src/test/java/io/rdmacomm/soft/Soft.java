package io.rdmacomm.soft;

import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.SharedReceiveQueue;
import java.lang.reflect.Field;

/// Opens software devices, and finds the drivers behind the objects of users, which do not show them.
final class Soft {
    private Soft() {}

    /// The device with these settings.
    static Device device(String settings) {
        return Device.of(new SoftDevice("soft", DeviceSettings.parse(settings)));
    }

    static Context open(String settings) {
        return device(settings).open();
    }

    static SoftContext of(Context context) {
        return driver(SoftContext.class, context);
    }

    static SoftQueuePair of(QueuePair queuePair) {
        return driver(SoftQueuePair.class, queuePair);
    }

    static SoftCompletionQueue of(CompletionQueue queue) {
        return driver(SoftCompletionQueue.class, queue);
    }

    static SoftSharedReceiveQueue of(SharedReceiveQueue queue) {
        return driver(SoftSharedReceiveQueue.class, queue);
    }

    /// A counter of the context's port.
    static long counter(Context context, String name) {
        Long value = of(context).counters(1).get(name);
        if (value == null) {
            throw new AssertionError("no counter " + name);
        }
        return value;
    }

    private static <T> T driver(Class<T> kind, Object object) {
        try {
            Field driver = object.getClass().getDeclaredField("driver");
            driver.setAccessible(true);
            return kind.cast(driver.get(object));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
