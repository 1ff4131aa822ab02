package io.rdmacomm.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanParserTest {
    private static FaultPlan parse(String rules) {
        return new PlanParser("fault:soft0?" + rules).parse(rules);
    }

    private static Rule rule(String rule) {
        return parse(rule).rules().getFirst();
    }

    @Test
    void readsEveryKindOfRule() {
        assertThat(rule("fail=write:3:remote_access_error"))
                .isEqualTo(new Rule(
                        FaultOperation.WRITE,
                        0,
                        new Occurrence(3, 0, 100),
                        new InjectedFault.FailedRequest(WorkStatus.REMOTE_ACCESS_ERROR)));
        assertThat(rule("fail=create-queue-pair:2+:ENOMEM"))
                .isEqualTo(new Rule(
                        FaultOperation.CREATE_QUEUE_PAIR,
                        0,
                        new Occurrence(2, 1, 100),
                        new InjectedFault.FailedCall(Errno.ENOMEM)));
        assertThat(rule("delay=any@7:/4:20us"))
                .isEqualTo(new Rule(
                        FaultOperation.ANY, 7, new Occurrence(4, 4, 100), new InjectedFault.Delay(20_000, 20_000)));
        assertThat(rule("delay=receive:2.5%:1-5ms"))
                .isEqualTo(new Rule(
                        FaultOperation.RECEIVE,
                        0,
                        new Occurrence(1, 1, 2.5),
                        new InjectedFault.Delay(1_000_000, 5_000_000)));
        assertThat(rule("full=send:1").fault()).isEqualTo(new InjectedFault.FullQueue());
        assertThat(rule("fatal=send:1").fault()).isEqualTo(new InjectedFault.DeviceFatal(false));
        assertThat(rule("fatal=send:1:silent").fault()).isEqualTo(new InjectedFault.DeviceFatal(true));
        assertThat(rule("overrun=receive:1").fault()).isEqualTo(new InjectedFault.Overrun());
        assertThat(rule("link-down=send:1").fault())
                .isEqualTo(new InjectedFault.LinkDown(InjectedFault.LinkDown.FOR_EVER));
        assertThat(rule("link-down=send:1:2s").fault()).isEqualTo(new InjectedFault.LinkDown(2_000_000_000));
        assertThat(parse("seed=-5&full=send:5%").seed()).isEqualTo(-5);
        assertThat(parse("").rules()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "nonsense | a rule is FAULT=OPERATION",
                "fail=write | a rule is FAULT=OPERATION",
                "fail=write:3:A:B | a rule is FAULT=OPERATION",
                "break=write:3 | 'break' is not fail",
                "fail=wrte:3:FLUSHED | 'wrte' is not a valid operation; choose one of send",
                "fail=write:0:FLUSHED | '0' is not 3 (the third)",
                "fail=write:often:FLUSHED | 'often' is not 3 (the third)",
                "fail=write:3 | '' is not a valid status; choose one of LOCAL_LENGTH_ERROR",
                "fail=write:3:SUCCESS | 'SUCCESS' is not a valid status",
                "fail=write:3:ENOMEM | 'ENOMEM' is not a valid status",
                "fail=register:3:FLUSHED | 'FLUSHED' is not a valid errno; choose one of EPERM",
                "fail=register@2:3:EIO | @ is for requests only",
                "delay=write:3 | '' is not a time",
                "delay=write:3:5 | '5' is not a time",
                "delay=write:3:5-1ms | ends before it begins",
                "full=register:3 | it is for requests",
                "full=write:3:x | it is for requests",
                "link-down=register:3 | it is for requests",
                "seed=x | a seed is a number",
                "full=write:3& | a rule is FAULT=OPERATION"
            })
    void saysWhatIsWrong(String rules, String complaint) {
        assertThatThrownBy(() -> parse(rules))
                .isInstanceOfSatisfying(
                        VerbException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining("fault:soft0?" + rules)
                .hasMessageContaining(complaint);
    }

    @Test
    void occurrencesAreCountedFromOne() {
        assertThat(numbers("3")).isEqualTo("3");
        assertThat(numbers("3+")).isEqualTo("345678");
        assertThat(numbers("/3")).isEqualTo("36");
        assertThat(numbers("100%")).isEqualTo("12345678");
        assertThat(numbers("0%")).isEmpty();
    }

    /// Of eight writes, those that a rule is about; reads do not count.
    private static String numbers(String when) {
        RuleCounters counters = new RuleCounters(parse("seed=1&full=write:" + when), Rule.Moment.POST_SEND, 1);
        StringBuilder numbers = new StringBuilder();
        for (int i = 1; i <= 8; i++) {
            assertThat(counters.next(FaultOperation.READ)).isNull();
            numbers.append(counters.next(FaultOperation.WRITE) == null ? "" : i);
        }
        return numbers.toString();
    }

    @Test
    void theFirstRuleThatAppliesWinsAndAllCount() {
        RuleCounters counters =
                new RuleCounters(parse("fail=any:2:FLUSHED&fail=write:2+:RETRY_EXCEEDED"), Rule.Moment.POST_SEND, 1);
        assertThat(counters.next(FaultOperation.WRITE)).isNull();
        assertThat(counters.next(FaultOperation.WRITE)).isEqualTo(new InjectedFault.FailedRequest(WorkStatus.FLUSHED));
        assertThat(counters.next(FaultOperation.SEND)).isNull();
        assertThat(counters.next(FaultOperation.WRITE))
                .isEqualTo(new InjectedFault.FailedRequest(WorkStatus.RETRY_EXCEEDED));
        assertThat(counters.next(null)).isNull();
    }
}
