/// The host for providers, sessions and the command: folders of this user among those of others, the
/// available memory, and the device to use if none is named. Not for programs: the package is exported to the modules
/// of this project only.
@NullMarked
package io.rdmacomm.verbs.host;

import org.jspecify.annotations.NullMarked;
