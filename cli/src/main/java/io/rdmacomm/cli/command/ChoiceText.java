package io.rdmacomm.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.TypeConversionException;

/// Choices as people write them: `completion-channel` for the constant `COMPLETION_CHANNEL`.
public final class ChoiceText {
    private ChoiceText() {}

    /// The text of `choice`.
    public static String of(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// The choice that `text` denotes.
    ///
    /// @throws TypeConversionException if there is none; the message lists all choices
    public static <E extends Enum<E>> E parse(Class<E> choices, String text) {
        List<String> texts = new ArrayList<>();
        for (E choice : choices.getEnumConstants()) {
            if (of(choice).equals(text)) {
                return choice;
            }
            texts.add(of(choice));
        }
        String last = texts.removeLast();
        throw new TypeConversionException("'" + text + "' is not one of " + String.join(", ", texts) + " and " + last);
    }
}
