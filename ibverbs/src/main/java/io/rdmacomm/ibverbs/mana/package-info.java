/// Special cases of mana, the adapter of Microsoft Azure.
@NullMarked
package io.rdmacomm.ibverbs.mana;

import org.jspecify.annotations.NullMarked;
