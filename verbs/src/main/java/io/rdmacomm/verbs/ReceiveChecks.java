package io.rdmacomm.verbs;

/// What every provider checks of receives before they are posted.
final class ReceiveChecks {
    private ReceiveChecks() {}

    /// How many requests from the start of the batch have no more than `elements` elements.
    static int acceptable(ReceiveBatch batch, int elements) {
        if (batch.mostElements() <= elements) {
            return batch.size();
        }
        int good = 0;
        while (good < batch.size() && batch.elementCount(good) <= elements) {
            good++;
        }
        return good;
    }

    static WorkRequestException tooManyElements(String operation, int index, int elements) {
        return new WorkRequestException(operation, index, "more than " + elements + " scatter/gather elements");
    }
}
