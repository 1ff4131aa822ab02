package io.rdmacomm.cli.command;

import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathOptions;
import java.util.Map;

/// The device, port and GID that a session uses, for text and JSON.
///
/// @param device the device's name
/// @param port the device's port
/// @param gidIndex the index of the GID in the port's table
/// @param gid the GID
public record DeviceLine(String device, int port, int gidIndex, String gid) {
    /// The device of `session`. A server chooses a GID for each client; this shows its default.
    public static DeviceLine of(Session session) {
        PathOptions path = session.options().channel().connection().path();
        Context context = session.context();
        int index = path.gidIndex().orElseGet(() -> context.preferredGidIndex(path.port()));
        return new DeviceLine(
                context.device().name(),
                path.port(),
                index,
                context.gid(path.port(), index).toString());
    }

    /// Adds everything but the name of the device, which is part of `environment`.
    public void addTo(Map<String, Object> document) {
        document.put("device_port", port);
        document.put("gid_index", gidIndex);
        document.put("gid", gid);
    }

    @Override
    public String toString() {
        return "device " + device + ", port " + port + ", GID " + gidIndex + " " + gid;
    }
}
