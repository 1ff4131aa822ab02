package io.rdmacomm.verbs;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The multicast groups of a datagram queue pair. Called under its send lock.
final class MulticastGroups {
    /// Attaches and detaches the queue pair at the device.
    interface Membership {
        void change(Gid group, int lid);
    }

    private record Group(Gid gid, int lid) {}

    private final Set<Group> groups = new LinkedHashSet<>();

    /// Attaches it, unless it is already attached; like the kernel.
    void attach(Gid gid, int lid, Membership attaching) {
        Group group = new Group(gid, lid);
        if (!groups.contains(group)) {
            attaching.change(gid, lid);
            groups.add(group);
        }
    }

    /// Returns whether it was attached.
    boolean detach(Gid gid, int lid, Membership detaching) {
        Group group = new Group(gid, lid);
        if (!groups.contains(group)) {
            return false;
        }
        detaching.change(gid, lid);
        groups.remove(group);
        return true;
    }

    /// Detaches from all groups: an attached queue pair cannot be destroyed (EBUSY).
    void detachAll(Membership detaching) {
        for (Group group : List.copyOf(groups)) {
            detach(group.gid(), group.lid(), detaching);
        }
    }
}
