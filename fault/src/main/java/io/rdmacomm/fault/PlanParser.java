package io.rdmacomm.fault;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Parses the rules in the name of a device: `FAULT=OPERATION[@QUEUE PAIR]:WHEN[:DETAIL]`, joined by `&`.
final class PlanParser {
    private static final Pattern RULE = Pattern.compile("([a-z-]+)(?:@([1-9]\\d{0,8}))?:([^:]+)(?::([^:]+))?");
    private static final Pattern WHEN =
            Pattern.compile("(?:([1-9]\\d{0,17})(\\+)?|/([1-9]\\d{0,17})|(\\d{1,3}(?:\\.\\d+)?)%)");
    private static final Pattern TIME = Pattern.compile("(\\d{1,9})(?:-(\\d{1,9}))?(us|ms|s)");
    private static final Map<String, TimeUnit> UNITS =
            Map.of("us", TimeUnit.MICROSECONDS, "ms", TimeUnit.MILLISECONDS, "s", TimeUnit.SECONDS);
    private static final String FORM = "FAULT=OPERATION[@QUEUE PAIR]:WHEN[:DETAIL], for example"
            + " fail=write:3:REMOTE_ACCESS_ERROR or delay=any:10%:0-5ms";

    private final String device;

    /// @param device the whole name, for messages
    PlanParser(String device) {
        this.device = device;
    }

    /// @throws VerbException EINVAL if a rule is wrong
    FaultPlan parse(String text) {
        List<Rule> rules = new ArrayList<>();
        Set<Capability> lacking = EnumSet.noneOf(Capability.class);
        int inlineBytes = Restrictions.NONE.inlineBytes();
        Long seed = null;
        for (String part : text.isEmpty() ? new String[0] : text.split("&", -1)) {
            int equals = part.indexOf('=');
            if (equals < 0) {
                throw wrong(part, "a rule is " + FORM);
            }
            String key = part.substring(0, equals);
            String value = part.substring(equals + 1);
            switch (key) {
                case "seed" -> seed = number(part, value, "a seed is a number");
                case "lacks" -> lacking.add(choice(part, "capability", Capability.values(), Capability::name, value));
                case "inline" -> inlineBytes = (int) number(part, value, "a number of bytes");
                default -> rules.add(rule(part, key, value));
            }
        }
        Restrictions restrictions = new Restrictions(lacking, inlineBytes);
        if (seed == null && rules.stream().anyMatch(Rule::isRandom)) {
            long chosen = ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
            return new FaultPlan(List.copyOf(rules), restrictions, chosen, text + "&seed=" + chosen);
        }
        return new FaultPlan(List.copyOf(rules), restrictions, seed == null ? 0 : seed, text);
    }

    private long number(String part, String value, String otherwise) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw wrong(part, otherwise);
        }
    }

    private Rule rule(String part, String key, String value) {
        Matcher form = RULE.matcher(value);
        if (!form.matches()) {
            throw wrong(part, "a rule is " + FORM);
        }
        FaultOperation operation =
                choice(part, "operation", FaultOperation.values(), FaultOperation::text, form.group(1));
        int queuePair = form.group(2) == null ? 0 : Integer.parseInt(form.group(2));
        if (queuePair > 0 && operation.isCall()) {
            throw wrong(part, "@ is for requests only, " + operation.text() + " is a call");
        }
        String detail = form.group(4) == null ? "" : form.group(4);
        return new Rule(operation, queuePair, when(part, form.group(3)), fault(part, key, operation, detail));
    }

    private Occurrence when(String part, String value) {
        Matcher form = WHEN.matcher(value);
        if (!form.matches()) {
            throw wrong(part, "'" + value + "' is not 3 (the third), 3+ (from the third on), /3 (every third) or 5%");
        }
        if (form.group(4) != null) {
            return new Occurrence(1, 1, Double.parseDouble(form.group(4)));
        }
        if (form.group(3) != null) {
            long step = Long.parseLong(form.group(3));
            return new Occurrence(step, step, Occurrence.ALWAYS);
        }
        return new Occurrence(Long.parseLong(form.group(1)), form.group(2) == null ? 0 : 1, Occurrence.ALWAYS);
    }

    private InjectedFault fault(String part, String key, FaultOperation operation, String detail) {
        return switch (key) {
            case "fail" ->
                operation.isCall()
                        ? new InjectedFault.FailedCall(errno(part, detail))
                        : new InjectedFault.FailedRequest(status(part, detail));
            case "delay" -> time(part, detail);
            case "full" -> ofRequest(part, operation, detail, new InjectedFault.FullQueue());
            case "overrun" -> ofRequest(part, operation, detail, new InjectedFault.Overrun());
            case "fatal" -> {
                boolean silent = detail.equals("silent");
                yield ofRequest(part, operation, silent ? "" : detail, new InjectedFault.DeviceFatal(silent));
            }
            case "link-down" -> ofRequest(part, operation, "", linkDown(part, detail));
            default ->
                throw wrong(
                        part,
                        "'" + key + "' is not fail, delay, full, link-down, overrun, fatal, lacks, inline or seed");
        };
    }

    private InjectedFault ofRequest(String part, FaultOperation operation, String detail, InjectedFault fault) {
        if (operation.isCall() || !detail.isEmpty()) {
            throw wrong(
                    part, "it is for requests, and takes no detail except the time of link-down, or silent for fatal");
        }
        return fault;
    }

    private InjectedFault linkDown(String part, String detail) {
        return new InjectedFault.LinkDown(
                detail.isEmpty()
                        ? InjectedFault.LinkDown.FOR_EVER
                        : time(part, detail).mostNanos());
    }

    private Errno errno(String part, String detail) {
        Errno[] known = Arrays.stream(Errno.values())
                .filter(errno -> errno != Errno.UNKNOWN)
                .toArray(Errno[]::new);
        return choice(part, "errno", known, Errno::name, detail);
    }

    private WorkStatus status(String part, String detail) {
        WorkStatus[] failures = Arrays.stream(WorkStatus.values())
                .filter(status -> status.code() > 0)
                .toArray(WorkStatus[]::new);
        return choice(part, "status", failures, WorkStatus::name, detail);
    }

    private InjectedFault.Delay time(String part, String value) {
        Matcher form = TIME.matcher(value);
        if (!form.matches()) {
            throw wrong(part, "'" + value + "' is not a time such as 20us, 5ms, 1s, or a range such as 0-5ms");
        }
        TimeUnit unit = UNITS.getOrDefault(form.group(3), TimeUnit.SECONDS);
        long first = unit.toNanos(Long.parseLong(form.group(1)));
        long second = form.group(2) == null ? first : unit.toNanos(Long.parseLong(form.group(2)));
        if (second < first) {
            throw wrong(part, "the range '" + value + "' ends before it begins");
        }
        return new InjectedFault.Delay(first, second);
    }

    private <T> T choice(String part, String what, T[] values, Function<T, String> name, String wanted) {
        for (T value : values) {
            if (name.apply(value).toLowerCase(Locale.ROOT).equals(wanted.toLowerCase(Locale.ROOT))) {
                return value;
            }
        }
        String names = Arrays.stream(values).map(name).collect(Collectors.joining(", "));
        throw wrong(part, "'" + wanted + "' is not a valid " + what + "; choose one of " + names);
    }

    private VerbException wrong(String part, String detail) {
        return new VerbException("find device '" + device + "'", Errno.EINVAL, "rule '" + part + "': " + detail);
    }
}
