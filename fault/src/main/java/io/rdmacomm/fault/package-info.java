/// Devices that wrap others and inject faults. The rules are parsed into a [FaultPlan]; each queue pair counts its
/// operations against them in [RuleCounters]; posting spoils the requests that are to fail, so that the real device
/// fails them in their turn, and polling reports the status of the rule. Objects that no rule is about are those of the
/// real device.
@NullMarked
package io.rdmacomm.fault;

import org.jspecify.annotations.NullMarked;
