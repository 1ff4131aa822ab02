package io.rdmacomm.verbs;

import java.nio.charset.StandardCharsets;

/// Makes untrusted text (of a peer, a file or a variable) safe to print and log: one line, without characters
/// that control a terminal or reorder others.
///
/// Text is decoded here when it arrives, so that unfiltered text exists only as bytes. The Unicode category
/// decides whether a character is printable: a question mark replaces controls (ESC, BEL, U+009B), formats
/// (U+202E), separators of lines and paragraphs, lone surrogates, and characters unknown to this JDK. U+FFFD
/// replaces invalid UTF-8. Thread-safe; never blocks.
public final class Printable {
    private static final char REPLACEMENT = '?';

    private Printable() {}

    /// Decodes UTF-8, for example the private data of a peer.
    public static String text(byte[] utf8) {
        return text(utf8, utf8.length);
    }

    /// Decodes UTF-8.
    ///
    /// @param most the longest text in bytes; the rest is cut off
    public static String text(byte[] utf8, int most) {
        return text(new String(utf8, 0, Math.min(utf8.length, most), StandardCharsets.UTF_8));
    }

    /// The text with a question mark in place of each character that is not printable.
    public static String text(String text) {
        return is(text) ? text : replaced(text);
    }

    /// Whether all of the text is printable.
    public static boolean is(String text) {
        for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
            if (!isPrintable(text.codePointAt(i))) {
                return false;
            }
        }
        return true;
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
