package io.rdmacomm.fault;

import java.util.List;

/// The rules of a device, and the seed of their random choices.
///
/// @param restrictions the operations that the device does not support
/// @param text the rules as given, and the seed if it matters
record FaultPlan(List<Rule> rules, Restrictions restrictions, long seed, String text) {
    /// The end of the device's name.
    String suffix() {
        return text.isEmpty() ? "" : "?" + text;
    }

    /// Whether a rule applies at this moment.
    boolean has(Rule.Moment moment) {
        return rules.stream().anyMatch(rule -> rule.moment() == moment);
    }

    /// Whether completions may be late.
    boolean delaysCompletions() {
        return has(Rule.Moment.POLL_SEND) || has(Rule.Moment.POLL_RECEIVE);
    }

    /// Whether requests may fail.
    boolean changesRequests() {
        return has(Rule.Moment.POST_SEND) || has(Rule.Moment.POST_RECEIVE);
    }

    /// Whether a rule raises an asynchronous event.
    boolean raisesEvents() {
        return failsDevice()
                || rules.stream()
                        .map(Rule::fault)
                        .anyMatch(fault ->
                                fault instanceof InjectedFault.LinkDown || fault instanceof InjectedFault.Overrun);
    }

    /// Whether a rule fails the device.
    boolean failsDevice() {
        return rules.stream().anyMatch(rule -> rule.fault() instanceof InjectedFault.DeviceFatal);
    }
}
