/// What mana, the adapter of Microsoft Azure, needs.
@NullMarked
package io.rdmacomm.ibverbs.mana;

import org.jspecify.annotations.NullMarked;
