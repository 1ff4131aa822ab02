package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import org.jspecify.annotations.Nullable;

/// Registers channels of the JDK in selectors of the JDK that the program does not know.
///
/// A channel that has been told of such a key counts it: when the program has cancelled its own key, the channel still
/// could not be made blocking before the next select. So the key is hidden from the channel. Only the agent opens
/// the method for that; without it the channel is told.
final class InnerSelectors {
    private static final String SELECTOR = "sun.nio.ch.SelectorImpl";
    private static final @Nullable MethodHandle REGISTER = find();

    private InnerSelectors() {}

    private static @Nullable MethodHandle find() {
        try {
            Class<?> selector = Class.forName(SELECTOR);
            return MethodHandles.privateLookupIn(selector, MethodHandles.lookup())
                    .findVirtual(
                            selector,
                            "register",
                            MethodType.methodType(
                                    SelectionKey.class, AbstractSelectableChannel.class, int.class, Object.class))
                    .asType(MethodType.methodType(
                            SelectionKey.class,
                            Selector.class,
                            AbstractSelectableChannel.class,
                            int.class,
                            Object.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /// Registers a channel that does not block.
    static SelectionKey register(AbstractSelectableChannel channel, Selector selector, int ops, Object attachment)
            throws IOException {
        MethodHandle register = REGISTER;
        if (register == null) {
            return channel.register(selector, ops, attachment);
        }
        try {
            return (SelectionKey) register.invokeExact(selector, channel, ops, attachment);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IOException("the selector of the JDK does not take " + channel, e);
        }
    }
}
