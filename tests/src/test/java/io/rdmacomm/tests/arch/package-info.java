/// The architecture rules, checked on compiled classes. To change a rule, change it here and add a decision
/// record that explains why.
package io.rdmacomm.tests.arch;
