package io.rdmacomm.verbs;

/// The sizes of the queues of a queue pair (`struct ibv_qp_cap`). A device may provide more than requested.
///
/// @param sends capacity of the send queue in work requests
/// @param receives capacity of the receive queue in work requests
/// @param sendElements largest number of scatter/gather elements of a send
/// @param receiveElements largest number of scatter/gather elements of a receive
/// @param inlineBytes largest inline payload in bytes
public record QueueSizes(int sends, int receives, int sendElements, int receiveElements, int inlineBytes) {
    /// Checks the ranges.
    public QueueSizes {
        Checks.range("send queue depth", sends, 0, 1 << 20);
        Checks.range("receive queue depth", receives, 0, 1 << 20);
        Checks.range("scatter/gather elements of a send", sendElements, 0, 256);
        Checks.range("scatter/gather elements of a receive", receiveElements, 0, 256);
        Checks.range("inline bytes", inlineBytes, 0, 1 << 16);
    }

    /// 128 sends, 128 receives, one element each, 64 inline bytes.
    public static QueueSizes defaults() {
        return new QueueSizes(128, 128, 1, 1, 64);
    }

    /// These sizes with other depths.
    public QueueSizes withDepth(int sendDepth, int receiveDepth) {
        return new QueueSizes(sendDepth, receiveDepth, sendElements, receiveElements, inlineBytes);
    }

    /// These sizes with other numbers of scatter/gather elements.
    public QueueSizes withElements(int ofSend, int ofReceive) {
        return new QueueSizes(sends, receives, ofSend, ofReceive, inlineBytes);
    }

    /// These sizes with another largest inline payload.
    public QueueSizes withInline(int bytes) {
        return new QueueSizes(sends, receives, sendElements, receiveElements, bytes);
    }
}
