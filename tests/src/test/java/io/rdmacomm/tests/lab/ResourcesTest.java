package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The check at the end of a lab run detects objects that were left open.
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class ResourcesTest {
    private static final long CLOSED_MILLIS = 10_000;

    @ParameterizedTest
    @CsvSource({"rxe0, 10.9.0.1", "siw0, 10.8.0.1"})
    void detectsAnOpenContextAndIgnoresThoseOfLibrdmacm(String device, String address) {
        Resources before = Resources.now();
        Context context = Rdma.open(device);
        assertThat(Resources.now().leftBy(before)).as("with a context open").isFalse();
        try (ConnectionManager manager = ConnectionManager.open(context);
                Listener<ConnectionRequest> listener = manager.listen(new InetSocketAddress(address, 0), 1)) {
            assertThat(listener.localAddress().getPort()).isPositive();
        }

        assertThat(Resources.now().leftBy(before))
                .as("with the context of a manager")
                .isFalse();
        context.close();
        assertThat(Deadline.until(CLOSED_MILLIS, () -> Resources.now().leftBy(before)))
                .as("%s before, and now %s", before, Resources.now())
                .isTrue();
    }
}
