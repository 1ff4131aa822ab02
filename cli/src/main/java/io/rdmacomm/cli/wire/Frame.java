package io.rdmacomm.cli.wire;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.util.Arrays;
import java.util.List;

/// A control message: numbers and a text. [FrameCodec] draws it as it is on the wire.
///
/// @param <K> the kinds of message of one protocol
/// @param kind what the message means
/// @param numbers at most 16
/// @param text a name, or an explanation for people; truncated to 1024 bytes on the wire
public record Frame<K extends Enum<K>>(K kind, List<Long> numbers, String text) {
    static final int MAX_NUMBERS = 16;

    /// Checks the number of numbers.
    public Frame {
        numbers = List.copyOf(numbers);
        if (numbers.size() > MAX_NUMBERS) {
            throw new IllegalArgumentException("a frame has at most " + MAX_NUMBERS + " numbers");
        }
    }

    /// A message without text.
    public static <K extends Enum<K>> Frame<K> of(K kind, long... numbers) {
        return of(kind, "", numbers);
    }

    /// A message with text.
    public static <K extends Enum<K>> Frame<K> of(K kind, String text, long... numbers) {
        return new Frame<>(kind, Arrays.stream(numbers).boxed().toList(), text);
    }

    /// The number at `index`.
    ///
    /// @throws CommandFailure if the peer sent fewer
    public long number(int index) {
        if (index >= numbers.size()) {
            throw new CommandFailure(
                    "the peer sent an incomplete " + kind + " message: run the same version of rdmacomm on both sides");
        }
        return numbers.get(index);
    }
}
