package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// A failure of an endpoint is logged unless the program takes it.
final class FailureLogTest {
    private final Warnings warnings = new Warnings();

    @AfterEach
    void stop() {
        warnings.close();
    }

    private static SessionOptions named(String name) {
        return SessionOptions.defaults().withName(name);
    }

    @Test
    void withoutAListenerItIsLoggedOnce() {
        try (ConnectedPair pair = new ConnectedPair(named("silent"), named("abrupt"))) {
            pair.clientEnd.abort(7, new RdmaException("out of paper", null));

            ConnectedPair.eventually(() -> warnings.messages().size() == 2);
        }
        assertThat(warnings.messages()).hasSize(2);
        assertThat(warnings.messages())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("endpoint silent-127.0.0.1:")
                        .endsWith("failed: the peer has aborted: out of paper"));
        assertThat(warnings.messages())
                .anySatisfy(
                        line -> assertThat(line).startsWith("endpoint abrupt-").endsWith("failed: out of paper"));
    }

    @Test
    void aListenerWithItsOwnMethodGetsItInstead() {
        List<@Nullable RdmaException> taken = new CopyOnWriteArrayList<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
                taken.add(failure);
            }
        };
        try (ConnectedPair pair = new ConnectedPair(
                named("listening").withListener(listener), named("heard").withListener(listener))) {
            pair.clientEnd.abort(7, new RdmaException("out of paper", null));

            ConnectedPair.eventually(() -> taken.size() == 2);
        }
        assertThat(taken).doesNotContainNull();
        assertThat(warnings.messages()).isEmpty();
    }
}
