package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.AccessFlag;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SessionOptionsTest {
    private static final SessionListener LISTENER = new SessionListener() {};
    private static final ChannelConfigurer CONFIGURER = (index, proposed) -> proposed.withReceives(index + 1);

    private static final Reconnect RECONNECT = Reconnect.defaults().withFactor(3);

    private static final Secret SECRET = Secret.of(new byte[16]);

    private static SessionOptions everythingChanged() {
        return SessionOptions.defaults()
                .withName("me")
                .withDevice("soft1")
                .withAddress("node7", 99)
                .withWorkMode(WorkMode.EPOLL)
                .withThreadMode(ThreadMode.CALLER)
                .withChannels(3)
                .withMaxChannels(4)
                .withLimits(PeerLimits.defaults().withBuffers(8))
                .withForeignGids(true)
                .withSecret(SECRET)
                .withChannel(ChannelOptions.defaults().withSendWindow(5))
                .withConfigurer(CONFIGURER)
                .withDeadlines(Deadlines.defaults().withClose(Duration.ofSeconds(6)))
                .withWaitForServer(true)
                .withReconnect(RECONNECT)
                .withConnectionPort(7)
                .withSetup(Setup.NUMBERS)
                .withCompletionVector(2)
                .withAccess(Set.of(AccessFlag.REMOTE_READ))
                .withListener(LISTENER);
    }

    @Test
    void eachOptionIsKeptWhenOthersChange() {
        SessionOptions options = everythingChanged();

        assertThat(options.name()).isEqualTo("me");
        assertThat(options.device()).isEqualTo("soft1");
        assertThat(options.host()).isEqualTo("node7");
        assertThat(options.port()).isEqualTo(99);
        assertThat(options.workMode()).isEqualTo(WorkMode.EPOLL);
        assertThat(options.threadMode()).isEqualTo(ThreadMode.CALLER);
        assertThat(options.completionVector()).hasValue(2);
        assertThat(options.channels()).isEqualTo(3);
        assertThat(options.maxChannels()).isEqualTo(4);
        assertThat(options.limits().buffers()).isEqualTo(8);
        assertThat(options.foreignGids()).isTrue();
        assertThat(options.secret()).isSameAs(SECRET);
        assertThat(options.channel().sendWindow()).isEqualTo(5);
        assertThat(options.configurer()).isSameAs(CONFIGURER);
        assertThat(options.deadlines().close()).isEqualTo(Duration.ofSeconds(6));
        assertThat(options.waitForServer()).isTrue();
        assertThat(options.reconnect()).isEqualTo(RECONNECT);
        assertThat(options.connectionPort()).isEqualTo(7);
        assertThat(options.setup()).isEqualTo(Setup.NUMBERS);
        assertThat(options.access()).containsExactly(AccessFlag.REMOTE_READ);
        assertThat(options.listener()).isSameAs(LISTENER);
    }

    @Test
    void theDefaultsStayWhatTheyAre() {
        var _ = everythingChanged();

        SessionOptions defaults = SessionOptions.defaults();
        assertThat(defaults.name()).isEmpty();
        assertThat(defaults.port()).isEqualTo(2020);
        assertThat(defaults.channels()).isEqualTo(1);
        assertThat(defaults.maxChannels()).isEqualTo(16);
        assertThat(defaults.host()).isEmpty();
        assertThat(defaults.threadMode()).isNull();
        assertThat(defaults.completionVector()).isEmpty();
        assertThat(defaults.limits()).hasToString("PeerLimits[endPoints=1024, endPointsPerAddress=256, buffers=1024]");
        assertThat(defaults.foreignGids()).isFalse();
        assertThat(defaults.secret()).isNull();
        assertThat(defaults.waitForServer()).isFalse();
        assertThat(defaults.reconnect()).isNull();
        assertThat(defaults.setup()).isEqualTo(Setup.AUTOMATIC);
    }

    @Test
    void whatIsOptionalCanBeLeftOutAgain() {
        SessionOptions options = everythingChanged()
                .withoutThreadMode()
                .withoutCompletionVector()
                .withoutReconnect()
                .withoutSecret()
                .withoutTls();

        assertThat(options.threadMode()).isNull();
        assertThat(options.completionVector()).isEmpty();
        assertThat(options.reconnect()).isNull();
        assertThat(options.secret()).isNull();
        assertThat(options.tls()).isNull();
        assertThat(options.workMode()).isEqualTo(WorkMode.EPOLL);
        assertThat(options.foreignGids()).isTrue();
    }

    @Test
    @SuppressWarnings("NullAway") // as programs without its checks
    void nullIsNoValue() {
        SessionOptions options = SessionOptions.defaults();
        assertThatNullPointerException()
                .isThrownBy(() -> options.withThreadMode(null))
                .withMessage("thread mode");
        assertThatNullPointerException()
                .isThrownBy(() -> options.withWorkMode(null))
                .withMessage("work mode");
        assertThatNullPointerException()
                .isThrownBy(() -> options.withReconnect(null))
                .withMessage("reconnect");
        assertThatNullPointerException()
                .isThrownBy(() -> options.withSecret(null))
                .withMessage("secret");
        assertThatNullPointerException().isThrownBy(() -> options.withTls(null)).withMessage("TLS");
        assertThatNullPointerException()
                .isThrownBy(() -> options.withSetup(null))
                .withMessage("setup");
        assertThatNullPointerException()
                .isThrownBy(() -> options.withListener(null))
                .withMessage("listener");
    }

    @Test
    void aConnectionPortAsksForTheConnectionManager() {
        assertThat(SessionOptions.defaults().withConnectionPort(2021).setup()).isEqualTo(Setup.CONNECTION_MANAGER);
        assertThat(SessionOptions.defaults().withConnectionPort(0).setup()).isEqualTo(Setup.AUTOMATIC);
    }

    @Test
    void aServerListensOnAllAddressesIfItSaysSo() {
        SessionOptions all = SessionOptions.defaults().withPort(7).withAllAddresses();

        assertThat(all.host()).isEqualTo("*");
        assertThat(all.port()).isEqualTo(7);
        assertThat(all.withHost("node7").host()).isEqualTo("node7");
    }

    @Test
    void theCallersSetIsCopied() {
        Set<AccessFlag> mine = EnumSet.of(AccessFlag.REMOTE_READ);
        SessionOptions options = SessionOptions.defaults().withAccess(mine);
        mine.clear();

        assertThat(options.access()).containsExactly(AccessFlag.REMOTE_READ);
    }

    @Test
    void valuesOutOfRangeAreNamed() {
        SessionOptions options = SessionOptions.defaults();
        assertThatThrownBy(() -> options.withPort(65536)).hasMessageContaining("port is 65536, must be 0 to 65535");
        assertThatThrownBy(() -> options.withCompletionVector(-1)).hasMessageContaining("completion vector is -1");
        assertThatThrownBy(() -> options.withChannels(0)).hasMessageContaining("number of data channels is 0");
        assertThatThrownBy(() -> options.withMaxChannels(257)).hasMessageContaining("limit of data channels is 257");
        assertThatThrownBy(() -> options.withName("a\nb")).hasMessageContaining("session name");
    }

    /// Final fields are what makes an immutable object safe to hand to another thread without synchronization.
    @Test
    void allFieldsAreFinal() {
        assertThat(SessionOptions.class.getDeclaredFields())
                .extracting(Field::getModifiers)
                .allMatch(modifiers -> Modifier.isFinal(modifiers));
    }
}
