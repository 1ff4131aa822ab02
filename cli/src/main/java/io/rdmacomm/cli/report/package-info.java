/// Reports for people: one HTML file that opens without a network.
@NullMarked
package io.rdmacomm.cli.report;

import org.jspecify.annotations.NullMarked;
