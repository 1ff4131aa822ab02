package io.rdmacomm.verbs;

/// The sizes of a queue pair's queues (`struct ibv_qp_cap`). A device may give more than was asked for.
///
/// @param sends work requests the send queue holds
/// @param receives work requests the receive queue holds
/// @param sendElements scatter/gather elements of one send
/// @param receiveElements scatter/gather elements of one receive
/// @param inlineBytes bytes of one send that can be copied into the request
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

    /// These sizes with another number of inline bytes.
    public QueueSizes withInline(int bytes) {
        return new QueueSizes(sends, receives, sendElements, receiveElements, bytes);
    }
}
