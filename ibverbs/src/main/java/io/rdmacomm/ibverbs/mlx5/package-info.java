/// Special cases of mlx5, the adapters of NVIDIA (Mellanox).
@NullMarked
package io.rdmacomm.ibverbs.mlx5;

import org.jspecify.annotations.NullMarked;
