package io.rdmacomm.nio.channel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// How long a thread polls before it sleeps.
class SpinTest {
    private static final long MOST = 20_000;
    private static final int TRIAL = 64;

    private final Spin spin = new Spin(MOST);

    private void fail(int times) {
        for (int i = 0; i < times; i++) {
            spin.failed();
        }
    }

    @Test
    void pollingThatDoesNotHelpBecomesShorterAndEnds() {
        assertThat(spin.nanos()).isEqualTo(MOST);
        fail(1);
        assertThat(spin.nanos()).isEqualTo(MOST / 2);
        fail(4);
        assertThat(spin.nanos()).isZero();
    }

    @Test
    void pollingThatHelpsBecomesLongerUpToTheLimit() {
        fail(2);
        spin.helped();
        assertThat(spin.nanos()).isEqualTo(MOST / 2);
        spin.helped();
        spin.helped();
        assertThat(spin.nanos()).isEqualTo(MOST);
    }

    @Test
    void aThreadThatNoLongerPollsTriesAgainNowAndThen() {
        fail(10);
        for (int i = 1; i < TRIAL; i++) {
            assertThat(spin.nanos()).isZero();
        }
        assertThat(spin.nanos()).isEqualTo(MOST);
        spin.failed();
        assertThat(spin.nanos()).as("after a trial in vain").isZero();
    }

    @Test
    void aTrialThatHelpsBringsPollingBack() {
        fail(10);
        for (int i = 0; i < TRIAL; i++) {
            spin.nanos();
        }
        spin.helped();
        assertThat(spin.nanos()).isEqualTo(MOST);
    }

    @Test
    void noPollingMeansNever() {
        Spin none = new Spin(0);
        for (int i = 0; i < 2 * TRIAL; i++) {
            assertThat(none.nanos()).isZero();
        }
    }
}
