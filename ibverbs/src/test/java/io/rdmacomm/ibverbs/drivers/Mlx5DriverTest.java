package io.rdmacomm.ibverbs.drivers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class Mlx5DriverTest {
    @Test
    void theEnvironmentTurnsCopyingOff() {
        assertThat(new Mlx5Driver(null).whyNoArrivalsAtOffsets()).contains("MLX5_SCATTER_TO_CQE=0");
        assertThat(new Mlx5Driver("1").whyNoArrivalsAtOffsets()).isNotEmpty();
        assertThat(new Mlx5Driver("0").whyNoArrivalsAtOffsets()).isEmpty();
    }
}
