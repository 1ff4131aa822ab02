package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.jmx.ChannelMXBean;
import io.rdmacomm.comm.jmx.EndPointMXBean;
import io.rdmacomm.comm.jmx.SessionMXBean;
import io.rdmacomm.tests.fixture.Deadline;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// The management beans of sessions, endpoints and channels.
final class ManagementTest {
    private static final String PROPERTY = "rdmacomm.jmx";

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    @AfterEach
    void turnOff() {
        System.clearProperty(PROPERTY);
    }

    private Set<ObjectName> beans(String type) throws Exception {
        return server.queryNames(new ObjectName("io.rdmacomm:type=" + type + ",*"), null);
    }

    private <T> T only(String type, String condition, Class<T> as) throws Exception {
        Set<ObjectName> found = server.queryNames(new ObjectName("io.rdmacomm:type=" + type + "," + condition), null);
        assertThat(found).hasSize(1);
        return JMX.newMXBeanProxy(server, found.iterator().next(), as);
    }

    @Test
    void theyAreOffByDefault() throws Exception {
        try (ConnectedPair _ = ConnectedPair.ofDefaults()) {
            assertThat(server.queryNames(new ObjectName("io.rdmacomm:*"), null)).isEmpty();
        }
    }

    @Test
    void twoSessionsOfOneNameHaveBeansUntilTheyAreClosed() throws Exception {
        System.setProperty(PROPERTY, "on");
        SessionOptions options =
                SessionOptions.defaults().withName("a \"name\", *=?").withChannels(2);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            assertThat(beans("Session")).hasSize(2);
            assertThat(beans("EndPoint")).hasSize(2);
            assertThat(beans("Channel")).hasSize(4);

            pair.clientEnd.close();

            ConnectedPair.eventually(() -> pair.client.endPoints().isEmpty());
            assertThat(beans("Session")).hasSize(2);
            assertThat(beans("EndPoint")).hasSize(1);
            assertThat(beans("Channel")).hasSize(2);
        }
        assertThat(server.queryNames(new ObjectName("io.rdmacomm:*"), null)).isEmpty();
    }

    @Test
    void theyShowTheCounters() throws Exception {
        SessionOptions options = SessionOptions.defaults().withName("server");
        try (ConnectedPair before = ConnectedPair.of(options)) {
            System.setProperty(PROPERTY, "on");
            try (ConnectedPair pair = ConnectedPair.of(options.withName("client"))) {
                BufferSlice slice = pair.client.allocate("source", 8).block(0);
                RdmaChannel channel = pair.clientChannel();
                channel.blocking(PATIENCE).send(slice);
                assertThat(before.clientChannel().statistics().operations()).isZero();

                String name = "name=" + ObjectName.quote(channel.name()) + ",*";
                ChannelMXBean ofChannel = only("Channel", name, ChannelMXBean.class);
                assertThat(ofChannel.getOperations()).isEqualTo(1);
                assertThat(ofChannel.getBytesOut()).isEqualTo(8);
                assertThat(ofChannel.getName()).isEqualTo(channel.name());
                assertThat(ofChannel.isOpen()).isTrue();
                assertThat(ofChannel.getInFlight()).isZero();

                String end = "name=" + ObjectName.quote(pair.clientEnd.name()) + ",*";
                EndPointMXBean ofEndPoint = only("EndPoint", end, EndPointMXBean.class);
                assertThat(ofEndPoint.getCompleted()).isEqualTo(1);
                assertThat(ofEndPoint.getState()).isEqualTo("READY");
                assertThat(ofEndPoint.getFailure()).isEmpty();
                assertThat(ofEndPoint.getPeerName()).isEqualTo("client");
                assertThat(ofEndPoint.getChannels()).isEqualTo(1);

                for (ObjectName session : beans("Session")) {
                    SessionMXBean ofSession = JMX.newMXBeanProxy(server, session, SessionMXBean.class);
                    assertThat(ofSession.getName()).isEqualTo("client");
                    assertThat(ofSession.getDevice())
                            .isEqualTo(pair.client.context().device().name());
                    assertThat(ofSession.getEndPoints()).isEqualTo(1);
                    assertThat(ofSession.getEndPointsSetUp()).isEqualTo(1);
                    assertThat(ofSession.getEndPointsFailed()).isZero();
                    // The server counts the message when its thread takes it, perhaps after the client's send is done.
                    Deadline.await(
                            "one operation or message", () -> ofSession.getOperations() + ofSession.getMessages() > 0);
                    assertThat(ofSession.getOperations() + ofSession.getMessages())
                            .isEqualTo(1);
                    assertThat(ofSession.getDeviceCounters())
                            .containsOnlyKeys(pair.client.context().counters(1).keySet());
                }
            }
        }
    }

    @Test
    void theLibraryNeedsNoManagementModule() throws Exception {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                        "-Xmx256m",
                        "--limit-modules",
                        "java.base,java.logging,jdk.jfr,jdk.net",
                        "-Drdmacomm.jmx=on",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output).contains("works", "rdmacomm.jmx has no effect", "--add-modules java.management");
            assertThat(process.exitValue()).as(output).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /// A class of its own, because the test needs the module.
    static final class Program {
        /// Opens and closes two sessions.
        public static void main(String[] arguments) {
            try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withDevice("soft0"))) {
                pair.clientChannel()
                        .blocking(PATIENCE)
                        .send(pair.client.allocate("source", 8).block(0));
                System.out.println("works");
            }
        }
    }
}
