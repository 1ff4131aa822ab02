package io.rdmacomm.cli.rig;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.verbs.Printable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// A control message: numbers and a text. [FrameCodec] shows its wire format. Immutable.
///
/// @param <K> the kinds of message of one protocol
public final class Frame<K extends Enum<K>> {
    static final int MAX_NUMBERS = 16;

    private final K kind;
    private final List<Long> numbers;
    private final byte[] bytes;

    /// Owns the array.
    ///
    /// @throws IllegalArgumentException if there are more than 16 numbers
    Frame(K kind, List<Long> numbers, byte[] bytes) {
        this.kind = kind;
        this.numbers = List.copyOf(numbers);
        this.bytes = bytes;
        if (numbers.size() > MAX_NUMBERS) {
            throw new IllegalArgumentException("a frame has at most " + MAX_NUMBERS + " numbers");
        }
    }

    /// A message without text.
    public static <K extends Enum<K>> Frame<K> of(K kind, long... numbers) {
        return of(kind, "", numbers);
    }

    /// A message with text, which is truncated to 1024 bytes on the wire.
    public static <K extends Enum<K>> Frame<K> of(K kind, String text, long... numbers) {
        return of(kind, text.getBytes(StandardCharsets.UTF_8), numbers);
    }

    /// A message with bytes in place of the text, such as the name of a file. They are truncated to 1024 on the
    /// wire.
    public static <K extends Enum<K>> Frame<K> of(K kind, byte[] bytes, long... numbers) {
        return new Frame<>(kind, Arrays.stream(numbers).boxed().toList(), bytes.clone());
    }

    /// The kind of the message.
    public K kind() {
        return kind;
    }

    /// The numbers, at most 16.
    public List<Long> numbers() {
        return numbers;
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

    /// A name, or an explanation for people, [printable][Printable].
    public String text() {
        return Printable.text(bytes);
    }

    /// The text as the peer sent it.
    public byte[] bytes() {
        return bytes.clone();
    }
}
