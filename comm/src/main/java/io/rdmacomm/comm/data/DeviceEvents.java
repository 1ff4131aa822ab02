package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.AsyncEventLoop;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The asynchronous events of a session's device, and the thread that reads them. When the device or a completion
/// queue fails, the endpoints that use it fail too, because polling never finds anything then on many adapters.
public final class DeviceEvents implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.comm");
    private static final Duration TEND = Duration.ofMillis(100);
    private static final Duration NOTHING_TO_TEND = Duration.ofHours(1);

    private final Context context;
    private final @Nullable SharedReceivePool receives;
    private final Set<CompletionGroup> groups = ConcurrentHashMap.newKeySet();
    private final AsyncEventLoop loop;
    private volatile Consumer<AsyncEvent> listener = _ -> {};

    /// Reads no events before [#start].
    ///
    /// @param session its name
    /// @param receives that its channels share; null if each has its own
    public DeviceEvents(Context context, String session, @Nullable SharedReceivePool receives) {
        this.context = context;
        this.receives = receives;
        this.loop = new AsyncEventLoop(
                context,
                "rdmacomm-" + session + "-device",
                this::onEvent,
                receives == null ? () -> {} : receives::maintain,
                receives == null ? NOTHING_TO_TEND : TEND);
    }

    /// Starts reading events.
    ///
    /// @param onEvent receives each event, on the thread that reads them
    public void start(Consumer<AsyncEvent> onEvent) {
        listener = onEvent;
        loop.start();
    }

    /// Adds a group in which work of the session completes.
    public CompletionGroup watch(CompletionGroup group) {
        groups.add(group);
        return group;
    }

    /// Removes a group that is being closed.
    public void forget(CompletionGroup group) {
        groups.remove(group);
    }

    private void onEvent(AsyncEvent event) {
        switch (event.type()) {
            case DEVICE_FATAL -> fail(event, "has failed; close the session and open another", _ -> true);
            case COMPLETION_QUEUE_ERROR ->
                fail(event, "overran", group -> group.queue().equals(event.resource()));
            case SHARED_RECEIVE_QUEUE_ERROR -> fail(event, "has failed", _ -> receives != null);
            case PORT_ERROR -> LOGGER.log(Level.WARNING, "port " + event.port() + " of " + context + " is down");
            case PORT_ACTIVE -> LOGGER.log(Level.INFO, "port " + event.port() + " of " + context + " is up");
            default -> {
                // The completions report it.
            }
        }
        if (receives != null) {
            receives.onEvent(event);
        }
        listener.accept(event);
    }

    private void fail(AsyncEvent event, String what, Predicate<CompletionGroup> concerned) {
        String subject = event.resource() == null
                ? "device " + context
                : event.resource().toString();
        RdmaException why = new RdmaException(subject + " " + what + " (" + event.type() + ")", null);
        LOGGER.log(Level.WARNING, why.getMessage());
        groups.stream().filter(concerned).forEach(group -> group.fail(why));
    }

    /// Reads no further events. The thread ends with the context.
    @Override
    public void close() {
        loop.close();
    }

    /// Waits until the thread has ended. The context is closed by now.
    public void join() {
        loop.join();
    }
}
