package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Asks the peer of an endpoint to return unused receives that it was granted, and returns those that this side
/// does not use, with messages on the control channel. Thread-safe; does not block.
///
/// @param name of the endpoint
/// @param unlessDone runs a task, unless this side has sent DONE
/// @param timeout for a message
/// @param busy the channels for which a message is being sent, so that repeated requests of a peer cost nothing
record CreditReturns(
        String name,
        ControlChannel control,
        List<RdmaChannel> channels,
        Consumer<Runnable> unlessDone,
        Duration timeout,
        Set<Integer> busy) {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(CreditReturns.class);

    CreditReturns(
            String name,
            ControlChannel control,
            List<RdmaChannel> channels,
            Consumer<Runnable> unlessDone,
            Duration timeout) {
        this(name, control, channels, unlessDone, timeout, ConcurrentHashMap.newKeySet());
    }

    /// Asks the peer to return unused receives of data channel `index`.
    void ask(int index) {
        later(index, () -> control.wantCredits(index, timeout));
    }

    /// Handles a request of the peer.
    ///
    /// @return the violation of the protocol; null if there is none
    @Nullable
    String asked(int index) {
        if (index < 0 || index >= channels.size()) {
            return "wants credits of channel " + index + " of " + channels.size();
        }
        later(-1 - index, () -> {
            int spare = channels.get(index).adapter().sends().surrenderCredits();
            if (spare > 0) {
                control.returnCredits(index, spare, timeout);
            }
        });
        return null;
    }

    /// Handles receives that the peer returns.
    ///
    /// @return the violation of the protocol; null if there is none
    @Nullable
    String returned(int index, int count) {
        boolean known = index >= 0 && index < channels.size();
        return known && channels.get(index).adapter().returned(count)
                ? null
                : "returns " + count + " credits of channel " + index + ", which it does not have";
    }

    private void later(int key, Runnable message) {
        if (busy.add(key)) {
            Thread.ofVirtual().name("rdmacomm-credits-" + name).start(() -> send(key, message));
        }
    }

    private void send(int key, Runnable message) {
        try {
            unlessDone.accept(message);
        } catch (RdmaException | IllegalStateException e) {
            LOGGER.log(Level.DEBUG, () -> "credits of " + name + " were not moved: " + e.getMessage());
        } finally {
            busy.remove(key);
        }
    }
}
