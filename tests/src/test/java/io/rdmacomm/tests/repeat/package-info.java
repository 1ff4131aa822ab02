/// Runs tests again and again, to find those that pass most of the time.
@org.jspecify.annotations.NullMarked
package io.rdmacomm.tests.repeat;
