package io.rdmacomm.comm.text;

import java.nio.charset.StandardCharsets;

/// Text of a peer, of a file or of a variable that somebody else may have written, fit to be printed and logged: in one
/// line, and without characters that control a terminal or change the order of others.
///
/// Text is decoded here when it arrives, so that unfiltered text exists only as bytes. The Unicode category decides
/// whether a character is printable: a question mark replaces controls (ESC, BEL, U+009B), formats (U+202E), separators
/// of lines and
/// paragraphs, lone surrogates, and what this JDK does not know. U+FFFD replaces what is not UTF-8.
public final class Printable {
    private static final char REPLACEMENT = '?';

    private Printable() {}

    /// Decodes UTF-8.
    public static String text(byte[] utf8) {
        return text(utf8, utf8.length);
    }

    /// Decodes UTF-8.
    ///
    /// @param most cuts what is longer than so many bytes
    public static String text(byte[] utf8, int most) {
        return text(new String(utf8, 0, Math.min(utf8.length, most), StandardCharsets.UTF_8));
    }

    /// The text with a question mark in place of each character that is not printable.
    public static String text(String text) {
        return is(text) ? text : replaced(text);
    }

    /// Whether all of the text is printable.
    public static boolean is(String text) {
        return text.codePoints().allMatch(Printable::isPrintable);
    }

    private static String replaced(String text) {
        int[] characters = text.codePoints()
                .map(character -> isPrintable(character) ? character : REPLACEMENT)
                .toArray();
        return new String(characters, 0, characters.length);
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
