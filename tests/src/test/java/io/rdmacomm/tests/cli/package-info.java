/// The command, as its users see it: exit codes, messages, results, and what it leaves behind.
package io.rdmacomm.tests.cli;
