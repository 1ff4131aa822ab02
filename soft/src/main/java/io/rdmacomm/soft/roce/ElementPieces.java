package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.memory.ElementList;
import java.lang.foreign.MemorySegment;

/// Copies ranges of resolved memory into packets. Finds the element of a range at once if the range follows the
/// previous one.
final class ElementPieces {
    private final ElementList elements;
    private int index;
    private long start;

    ElementPieces(ElementList elements) {
        this.elements = elements;
    }

    /// The elements have changed.
    void restart() {
        index = 0;
        start = 0;
    }

    /// Copies `bytes` bytes from `offset` within all elements.
    void copy(long offset, MemorySegment to, long toOffset, int bytes) {
        if (offset < start) {
            restart();
        }
        long from = offset;
        long target = toOffset;
        long left = bytes;
        while (left > 0) {
            long behind = start + elements.lengths[index];
            if (from >= behind) {
                start = behind;
                index++;
                continue;
            }
            long piece = Math.min(left, behind - from);
            ElementList.copyPiece(elements.segments[index], elements.offsets[index] + from - start, to, target, piece);
            from += piece;
            target += piece;
            left -= piece;
        }
        elements.throwFault();
    }
}
