import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.nio.file.Path;

/// A map of two members of Hazelcast, each with a part of the entries: four threads of one member write entries of a
/// kilobyte and read them.
final class HazelcastMap implements Loaded {
    private static final int THREADS = 4;
    private static final int ENTRIES = 1000;
    private static final int BYTES = 1000;

    private HazelcastInstance instance;

    @Override
    public int start(Path folder) {
        instance = HazelcastMember.member(0);
        return HazelcastMember.port(instance.getCluster().getLocalMember());
    }

    @Override
    public void stop() {
        instance.shutdown();
    }

    @Override
    public void begin(int port, Meter meter) {
        IMap<Integer, byte[]> map = HazelcastMember.member(port).getMap("load");
        for (int i = 0; i < THREADS; i++) {
            int first = i * ENTRIES;
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (true) {
                        exchange(map, first, meter);
                    }
                } catch (RuntimeException | AssertionError e) {
                    meter.failed(e);
                }
            });
        }
    }

    private static void exchange(IMap<Integer, byte[]> map, int first, Meter meter) {
        for (int key = first; key < first + ENTRIES; key++) {
            byte[] value = Bytes.of(BYTES, key);
            map.set(key, value);
            meter.done();
            Bytes.check("an entry", value, map.get(key));
            meter.done();
        }
    }
}
