/// The rules of the house, checked on the compiled classes. A rule that stands in the way of something better is
/// changed
/// here, together with a decision record that says why.
package io.rdmacomm.tests.arch;
