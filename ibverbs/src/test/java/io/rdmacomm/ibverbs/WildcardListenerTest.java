package io.rdmacomm.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The managers of two adapters in this process listen at the same port of all addresses.
final class WildcardListenerTest extends ConnectionCase {
    private static final InetSocketAddress EVERYWHERE = new InetSocketAddress(address(0, 0, 0, 0), 7174);

    private Context second;
    private ConnectionManager secondManager;

    @BeforeEach
    void openSecond() {
        fake.devices(2, 0);
        second = FakeVerbs.device(fake.provider(), 1).open();
        secondManager = ConnectionManager.open(second);
        fake.log();
    }

    @AfterEach
    void closeSecond() {
        second.close();
    }

    private static ConnectionRequest taken(Listener<ConnectionRequest> listener) throws InterruptedException {
        ConnectionRequest request = listener.awaitRequest(LONG);
        assertThat(request).isNotNull();
        return request;
    }

    @Test
    void eachDeviceGetsItsRequests() throws InterruptedException {
        Listener<ConnectionRequest> first = manager.listen(EVERYWHERE, 2);
        Listener<ConnectionRequest> other = secondManager.listen(EVERYWHERE, 2);
        assertThat(fake.log()).filteredOn(line -> line.startsWith("listen")).hasSize(1);
        fake.request("id0", "", false);
        String moved = fake.requestAtSecond("id0");
        awaitLog("migrate_id " + moved);
        try (ConnectionRequest here = taken(first);
                ConnectionRequest there = taken(other)) {
            assertThat(here.manager()).isEqualTo(manager);
            assertThat(there.manager()).isEqualTo(secondManager);
        }
        String stranger = fake.request("id0", "", true);
        awaitLog("destroy_id " + stranger);
    }

    /// The identifier belongs to the first, and moves.
    @Test
    void aDeviceListensOnWhenTheOtherStops() throws InterruptedException {
        Listener<ConnectionRequest> first = manager.listen(EVERYWHERE, 2);
        Listener<ConnectionRequest> other = secondManager.listen(EVERYWHERE, 2);
        FutureTask<ConnectionRequest> waiting = start(false, () -> other.awaitRequest(LONG));
        first.close();
        awaitLog("migrate_id id0");
        context.close();
        String late = fake.request("id0", "", false);
        awaitLog("destroy_id " + late);
        fake.requestAtSecond("id0");
        try (ConnectionRequest there = getResult(waiting)) {
            assertThat(there.manager()).isEqualTo(secondManager);
        }
        other.close();
        awaitLog("destroy_id id0");
        try (Listener<ConnectionRequest> again = secondManager.listen(EVERYWHERE, 2)) {
            assertThat(again.localAddress()).isEqualTo(EVERYWHERE);
        }
    }

    private static ConnectionRequest getResult(FutureTask<ConnectionRequest> task) throws InterruptedException {
        try {
            return task.get();
        } catch (java.util.concurrent.ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aDeviceListensOnceAtAPort() {
        try (Listener<ConnectionRequest> first = manager.listen(EVERYWHERE, 2)) {
            assertThatThrownBy(() -> manager.listen(EVERYWHERE, 2))
                    .hasMessageContainingAll("EADDRINUSE", "already listens", "7174", "fake0");
            assertThat(first.isOpen()).isTrue();
        }
        manager.listen(EVERYWHERE, 2).close();
    }

    @Test
    void aRequestThatCannotMoveIsRefused() throws InterruptedException {
        manager.listen(EVERYWHERE, 2);
        Listener<ConnectionRequest> other = secondManager.listen(EVERYWHERE, 2);
        fake.fail("rdma_migrate_id", 22);
        String refused = fake.requestAtSecond("id0");
        awaitLog("destroy_id " + refused);
        fake.requestAtSecond("id0");
        taken(other).close();
    }

    /// With a librdmacm that cannot move the port, the others are told.
    @Test
    void theOthersEndIfThePortCannotMove() throws InterruptedException {
        Listener<ConnectionRequest> first = manager.listen(EVERYWHERE, 2);
        Listener<ConnectionRequest> other = secondManager.listen(EVERYWHERE, 2);
        fake.fail("rdma_migrate_id", 95);
        first.close();
        assertThatThrownBy(() -> other.awaitRequest(LONG)).hasMessageContaining("went away");
        other.close();
        manager.listen(EVERYWHERE, 2).close();
    }
}
