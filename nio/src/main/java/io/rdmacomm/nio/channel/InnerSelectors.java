package io.rdmacomm.nio.channel;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import org.jspecify.annotations.Nullable;

/// Registers channels of the JDK in internal selectors of the JDK.
///
/// A channel counts its keys. After the program has cancelled its own key, an internal one would keep the channel
/// from becoming blocking before the next select. So the channel must not learn of it. Only the agent opens the
/// method for that; without the agent, the channel counts the key.
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

    /// Registers a non-blocking channel.
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
