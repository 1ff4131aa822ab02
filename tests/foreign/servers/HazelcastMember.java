import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.map.IMap;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/// A member of a cluster. The other JVM is a second one, so each holds a part of the entries of a map.
final class HazelcastMember implements Program {
    private static final String MAP = "entries";
    private static final int THREADS = 8;
    private static final int ENTRIES = 2000;
    private static final int SECONDS = 120;

    private HazelcastInstance instance;

    @Override
    public int start(Path folder, Path file) {
        instance = member(0);
        return port(instance.getCluster().getLocalMember());
    }

    @Override
    public void stop() {
        instance.shutdown();
    }

    @Override
    public String work(int port, Path file, int mebibytes) throws Exception {
        int count = ENTRIES + mebibytes;
        HazelcastInstance own = member(port);
        awaitOwners(own);
        write(own, count);
        checkBoth(own, count);
        // Its part of the entries moves to the other member, and back.
        own.shutdown();
        own = member(port);
        checkBoth(own, count);
        own.shutdown();
        return count + " entries read by both members, " + mebibytes + " of them of 1 MiB";
    }

    /// @param other the port of a member to join, or 0 for a new cluster
    static HazelcastInstance member(int other) {
        Config config = new Config()
                .setProperty("hazelcast.phone.home.enabled", "false")
                .setProperty("hazelcast.socket.bind.any", "false")
                .setProperty("hazelcast.partition.count", "31")
                .setProperty("hazelcast.wait.seconds.before.join", "0");
        config.getMetricsConfig().setEnabled(false);
        NetworkConfig network = config.getNetworkConfig().setPort(0);
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        network.getJoin().getAutoDetectionConfig().setEnabled(false);
        network.getJoin().getMulticastConfig().setEnabled(false);
        network.getJoin().getTcpIpConfig().setEnabled(true);
        if (other != 0) {
            network.getJoin().getTcpIpConfig().addMember("127.0.0.1:" + other);
        }
        return Hazelcast.newHazelcastInstance(config);
    }

    static int port(Member member) {
        return member.getAddress().getPort();
    }

    private static byte[] value(int key) {
        return Bytes.of(key < ENTRIES ? key : 1 << 20, key);
    }

    private static void write(HazelcastInstance own, int count) throws Exception {
        IMap<Integer, byte[]> map = own.getMap(MAP);
        List<Callable<Void>> calls = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int first = i;
            calls.add(() -> {
                for (int key = first; key < count; key += THREADS) {
                    map.set(key, value(key));
                }
                return null;
            });
        }
        try (var threads = Executors.newFixedThreadPool(THREADS)) {
            for (var call : threads.invokeAll(calls)) {
                call.get();
            }
        }
    }

    private static void checkBoth(HazelcastInstance own, int count) throws Exception {
        awaitOwners(own);
        Check check = new Check(count);
        for (Member member : own.getCluster().getMembers()) {
            int checked = own.getExecutorService("checks").submitToMember(check, member).get(SECONDS, TimeUnit.SECONDS);
            if (checked != count) {
                throw new AssertionError(member + " read " + checked + " entries");
            }
        }
    }

    /// Waits until there are two members, and each owns some of the partitions: a member that joins gets its part
    /// later.
    private static void awaitOwners(HazelcastInstance own) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        Set<Member> members = own.getCluster().getMembers();
        Set<Member> owners = owners(own);
        while (members.size() != 2 || !owners.equals(members)) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("of the members " + members + " only " + owners + " own partitions");
            }
            TimeUnit.MILLISECONDS.sleep(20);
            members = own.getCluster().getMembers();
            owners = owners(own);
        }
    }

    private static Set<Member> owners(HazelcastInstance own) {
        Set<Member> owners = new HashSet<>();
        own.getPartitionService().getPartitions().forEach(partition -> owners.add(partition.getOwner()));
        return owners;
    }

    /// Reads each entry at the member that runs it.
    private static final class Check implements Callable<Integer>, Serializable, HazelcastInstanceAware {
        private static final long serialVersionUID = 1;

        private final int count;
        private transient HazelcastInstance here;

        Check(int count) {
            this.count = count;
        }

        @Override
        public void setHazelcastInstance(HazelcastInstance here) {
            this.here = here;
        }

        @Override
        public Integer call() {
            IMap<Integer, byte[]> map = here.getMap(MAP);
            for (int key = 0; key < count; key++) {
                byte[] found = map.get(key);
                Bytes.check("entry " + key, value(key), found == null ? new byte[0] : found);
            }
            return map.size();
        }
    }
}
