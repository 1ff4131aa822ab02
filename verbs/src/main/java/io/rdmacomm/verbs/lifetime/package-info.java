/// How verbs objects depend on one another and are closed. Not exported.
@NullMarked
package io.rdmacomm.verbs.lifetime;

import org.jspecify.annotations.NullMarked;
