package io.rdmacomm.cli.bench.result;

import java.util.LinkedHashMap;
import java.util.Map;

/// The result of a measurement over a transport that can lose messages. Its figures are those of the messages that
/// arrived.
///
/// @param measured the figures
/// @param service the transport
/// @param losses how many messages arrived
public record UnreliableResult(Result measured, TransportService service, Losses losses) implements Result {
    @Override
    public BenchTest test() {
        return measured.test();
    }

    @Override
    public long bytes() {
        return measured.bytes();
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>(measured.toMap());
        members.put("transport", service.label());
        losses.addTo(members);
        return members;
    }
}
