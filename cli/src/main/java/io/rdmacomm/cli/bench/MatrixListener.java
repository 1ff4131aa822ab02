package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.Modes;

/// Follows the progress of a [ModeMatrix].
public interface MatrixListener {
    /// A combination begins.
    ///
    /// @param number which one it is, counted from 1
    /// @param count how many there are
    void onStart(int number, int count, Modes modes);

    /// A combination is complete.
    void onCell(MatrixCell cell);
}
