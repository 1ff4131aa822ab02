/// What processes of one user on one host share: control structures, rings and regions in mapped files, and the
/// control connections that carry wake-ups and tell of a peer's death. Knows nothing of verbs objects.
@NullMarked
package io.rdmacomm.soft.shm;

import org.jspecify.annotations.NullMarked;
