/// The host as providers, sessions and the command see it: folders of this user among those of others, and the
/// memory that is left. Not for programs: the package is exported to the modules of this project only.
@NullMarked
package io.rdmacomm.verbs.host;

import org.jspecify.annotations.NullMarked;
