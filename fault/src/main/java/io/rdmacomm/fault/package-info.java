/// Devices that wrap others and inject faults. The rules are parsed into a [FaultPlan]; each queue pair counts its
/// operations against them in [RuleCounters]; posting spoils the requests that are to fail, so that the real device
/// fails them in their turn, and polling reports the status of the rule.
@NullMarked
package io.rdmacomm.fault;

import org.jspecify.annotations.NullMarked;
