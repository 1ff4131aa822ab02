/// Devices that wrap others and inject faults. [FaultPlan] holds the parsed rules, and each queue pair counts its
/// operations against them in [RuleCounters]. Posting spoils the requests that must fail, so that the real device
/// fails them in their turn; polling reports the status of the rule. Objects that no rule applies to are those of
/// the real device.
@NullMarked
package io.rdmacomm.fault;

import org.jspecify.annotations.NullMarked;
