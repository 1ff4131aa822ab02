package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.DeviceLine;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The measurements of all combinations of modes.
///
/// @param provider the provider of the device
/// @param device the device, port and GID that the client used
/// @param cells the combinations
public record MatrixReport(String provider, DeviceLine device, List<MatrixCell> cells) {
    /// The members of the report's JSON document, except for `schema` and `environment`.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        device.addTo(members);
        members.put("bytes", ModeMatrix.BYTES);
        members.put("cells", cells.stream().map(MatrixCell::toMap).toList());
        return members;
    }
}
