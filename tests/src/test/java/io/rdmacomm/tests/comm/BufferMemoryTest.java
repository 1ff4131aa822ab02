package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.UnsupportedVerbException;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Sessions that ask for a special treatment of their memory.
@ExtendWith(LeakCheck.class)
final class BufferMemoryTest {
    @Test
    void buffersWithRelaxedOrderingWorkAsOthers() {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.RELAXED_ORDERING);
        access.addAll(AccessFlag.allRemote());
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withAccess(access))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RdmaBuffer target = pair.server.allocate("target", 64);
            assertThat(source.access()).isEqualTo(access);
            RemoteBuffer remote = pair.target(target);
            assertThat(remote.access()).isEqualTo(access);
            source.segment().set(JAVA_LONG, 0, 77);
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            blocking.write(source.slice(0, 8), remote, 8);
            blocking.send(source.slice(0, 8));
            try (var message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.segment().get(JAVA_LONG, 0)).isEqualTo(77);
                assertThat(target.segment().get(JAVA_LONG, 8)).isEqualTo(77);
            }
        }
    }

    @Test
    void hugePagesAreRejectedWhereTheDeviceHasNone() {
        SessionOptions options = SessionOptions.defaults().withDevice("soft0").withPages(PageSize.HUGE);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            assertThatThrownBy(() -> pair.client.allocate("source", 64))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContainingAll("HUGE_PAGES", "soft0", "PageSize.NORMAL");
        }
    }
}
