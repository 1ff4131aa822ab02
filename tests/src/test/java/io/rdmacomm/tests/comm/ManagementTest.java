package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.management.Attribute;
import javax.management.AttributeNotFoundException;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;
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

    private ObjectName only(String type, String name) throws Exception {
        Set<ObjectName> found = beans(type + ",name=" + ObjectName.quote(name));
        assertThat(found).hasSize(1);
        return found.iterator().next();
    }

    private Object attribute(ObjectName bean, String name) {
        try {
            return server.getAttribute(bean, name);
        } catch (JMException e) {
            throw new AssertionError(name, e);
        }
    }

    private long number(ObjectName bean, String name) {
        return (Long) attribute(bean, name);
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
                channel.blocking(TIMEOUT).send(slice);
                assertThat(before.clientChannel().statistics().value(ChannelCounter.OPERATIONS))
                        .isZero();

                ObjectName ofChannel = only("Channel", channel.name());
                assertThat(attribute(ofChannel, "Operations")).isEqualTo(1L);
                assertThat(attribute(ofChannel, "BytesOut")).isEqualTo(8L);
                assertThat(attribute(ofChannel, "Name")).isEqualTo(channel.name());
                assertThat(attribute(ofChannel, "Open")).isEqualTo(true);
                assertThat(attribute(ofChannel, "InFlight")).isEqualTo(0);

                ObjectName ofEndPoint = only("EndPoint", pair.clientEnd.name());
                assertThat(attribute(ofEndPoint, "Completed")).isEqualTo(1L);
                assertThat(attribute(ofEndPoint, "State")).isEqualTo("READY");
                assertThat(attribute(ofEndPoint, "Failure")).isEqualTo("");
                assertThat(attribute(ofEndPoint, "PeerName")).isEqualTo("client");
                assertThat(attribute(ofEndPoint, "Channels")).isEqualTo(1);

                for (ObjectName ofSession : beans("Session")) {
                    assertThat(attribute(ofSession, "Name")).isEqualTo("client");
                    assertThat(attribute(ofSession, "Device"))
                            .isEqualTo(pair.client.context().device().name());
                    assertThat(attribute(ofSession, "EndPoints")).isEqualTo(1);
                    assertThat(attribute(ofSession, "EndPointsSetUp")).isEqualTo(1L);
                    assertThat(attribute(ofSession, "EndPointsFailed")).isEqualTo(0L);
                    // The server counts the message when its thread takes it, perhaps after the client's send is done.
                    Deadline.await(
                            "one operation or message",
                            () -> number(ofSession, "Operations") + number(ofSession, "Messages") > 0);
                    assertThat(number(ofSession, "Operations") + number(ofSession, "Messages"))
                            .isEqualTo(1);
                    TabularData ofDevice = (TabularData) attribute(ofSession, "DeviceCounters");
                    assertThat(ofDevice.values())
                            .extracting(row -> ((CompositeData) row).get("key"))
                            .containsExactlyInAnyOrderElementsOf(
                                    pair.client.context().counters(1).keySet());
                }
            }
        }
    }

    @Test
    void theyDescribeTheirAttributesAsMXBeansDo() throws Exception {
        System.setProperty(PROPERTY, "on");
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            ObjectName ofChannel = only("Channel", pair.clientChannel().name());
            String counters = "Operations Completed Failed BytesOut BytesRead Messages Notices BytesIn WindowStalls"
                    + " CreditStalls CreditUpdates HandlerErrors";
            assertThat(types(ofChannel))
                    .containsExactlyInAnyOrderEntriesOf(
                            with(counters, "long", "Name", "java.lang.String", "InFlight", "int", "Open", "boolean"));
            assertThat(types(only("EndPoint", pair.clientEnd.name())))
                    .containsExactlyInAnyOrderEntriesOf(with(
                            counters,
                            "long",
                            "Name PeerName PeerAddress State Failure",
                            "java.lang.String",
                            "Channels",
                            "int"));
            assertThat(types(beans("Session").iterator().next()))
                    .containsExactlyInAnyOrderEntriesOf(with(
                            counters,
                            "long",
                            "EndPointsSetUp EndPointsFailed RegisteredBytes",
                            "long",
                            "EndPoints",
                            "int",
                            "Name Device",
                            "java.lang.String",
                            "DeviceCounters",
                            TabularData.class.getName()));

            assertThat(server.getAttributes(ofChannel, new String[] {"Open", "Nothing", "Failed"})
                            .asList())
                    .containsExactly(new Attribute("Open", true), new Attribute("Failed", 0L));
            assertThatThrownBy(() -> server.getAttribute(ofChannel, "Nothing"))
                    .isInstanceOf(AttributeNotFoundException.class);
            assertThatThrownBy(() -> server.setAttribute(ofChannel, new Attribute("Open", false)))
                    .isInstanceOf(AttributeNotFoundException.class);
        }
    }

    private Map<String, String> types(ObjectName bean) throws JMException {
        return Arrays.stream(server.getMBeanInfo(bean).getAttributes())
                .collect(Collectors.toMap(MBeanAttributeInfo::getName, MBeanAttributeInfo::getType));
    }

    /// @param namesAndTypes names, separated by blanks, and the type of all of them
    private static Map<String, String> with(String... namesAndTypes) {
        Map<String, String> types = new HashMap<>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            for (String name : namesAndTypes[i].split(" ", -1)) {
                types.put(name, namesAndTypes[i + 1]);
            }
        }
        return types;
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
                        .blocking(TIMEOUT)
                        .send(pair.client.allocate("source", 8).block(0));
                System.out.println("works");
            }
        }
    }
}
