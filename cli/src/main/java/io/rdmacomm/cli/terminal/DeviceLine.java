package io.rdmacomm.cli.terminal;

import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import java.util.Map;

/// What a session travels over: device, port and GID, for people and as JSON.
///
/// @param device the device's name
/// @param port the device's port
/// @param gidIndex the position of the GID in the port's table
/// @param gid the GID
public record DeviceLine(String device, int port, int gidIndex, String gid) {
    /// What `session` uses. A server chooses the GID for each client anew; this is what it begins with.
    public static DeviceLine of(Session session) {
        ConnectionOptions how = session.options().channel().connection();
        Context context = session.context();
        int index = how.gidIndex() == ConnectionOptions.AUTOMATIC_GID
                ? context.preferredGidIndex(how.port())
                : how.gidIndex();
        return new DeviceLine(
                context.device().name(),
                how.port(),
                index,
                context.gid(how.port(), index).toString());
    }

    /// Adds what `environment.device` does not say.
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
